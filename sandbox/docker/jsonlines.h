#pragma once

#include <QByteArray>
#include <QList>

namespace sandbox {

// Splits a stream of JSON objects as the engine sends them: one a line, ended by \r\n or \n.
class JsonLines
{
public:
    QList<QByteArray> feed(const QByteArray &bytes);

private:
    QByteArray m_rest;
};

} // namespace sandbox

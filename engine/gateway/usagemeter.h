#pragma once

#include "engine/gateway/modelrequest.h"

#include <QByteArray>

namespace engine {

// Reads token counts out of an answer as it passes: whole JSON or server-sent events.
class UsageMeter
{
public:
    void begin(const QByteArray &contentType);
    void feed(const QByteArray &bytes);
    // Into the counts, model and `metered` of `to`.
    void finish(ModelRequest &to);

private:
    void readLine(QByteArrayView line);
    void readJson(QByteArrayView text);

    ModelRequest m_found;
    QByteArray m_buffer;
    bool m_events = false;
    bool m_skipping = false; // the rest of a line, or body, that is too long to hold
};

// The "model" of a request's body; empty when it has none.
QString modelOf(const QByteArray &requestBody);

} // namespace engine

#pragma once

#include <QByteArray>
#include <QByteArrayList>
#include <QString>

namespace engine {

// The one place where secrets are taken out of what is stored, shown or logged. Values of fewer than eight characters are
// no secrets: they would blot out ordinary words. Any thread.
class Redactor final
{
public:
    void add(const QString &secret);
    bool finds(const QByteArray &text) const;
    QByteArray redacted(QByteArray text) const;
    QString redacted(const QString &text) const;

private:
    QByteArrayList m_secrets;
};

} // namespace engine

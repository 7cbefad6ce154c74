#include "engine/types/redactor.h"

namespace engine {
namespace {

constexpr qsizetype shortestSecret = 8;
constexpr char mark[] = "[redacted]";

} // namespace

void Redactor::add(const QString &secret)
{
    const QByteArray bytes = secret.toUtf8();
    if (bytes.size() >= shortestSecret && !m_secrets.contains(bytes))
        m_secrets.append(bytes);
}

bool Redactor::finds(const QByteArray &text) const
{
    for (const QByteArray &secret : m_secrets) {
        if (text.contains(secret))
            return true;
    }
    return false;
}

QByteArray Redactor::redacted(QByteArray text) const
{
    for (const QByteArray &secret : m_secrets)
        text.replace(secret, mark);
    return text;
}

QString Redactor::redacted(const QString &text) const
{
    QString clean = text;
    for (const QByteArray &secret : m_secrets)
        clean.replace(QString::fromUtf8(secret), QLatin1String(mark));
    return clean;
}

} // namespace engine

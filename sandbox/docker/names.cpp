#include "sandbox/docker/names.h"

#include <QCryptographicHash>
#include <QRegularExpression>

namespace sandbox {

namespace {

// Ids with characters or a length that an engine refuses in names are replaced by their hash.
QString nameable(const QString &sessionId)
{
    static const QRegularExpression safe(QStringLiteral("\\A[A-Za-z0-9_.-]{1,100}\\z"));
    if (safe.match(sessionId).hasMatch())
        return sessionId;
    const QByteArray hash = QCryptographicHash::hash(sessionId.toUtf8(), QCryptographicHash::Sha256).toHex();
    return QString::fromLatin1(hash.left(24));
}

} // namespace

QString containerName(const QString &sessionId, int generation)
{
    return QStringLiteral("signalbox-%1-%2").arg(nameable(sessionId)).arg(generation);
}

QString sessionVolumeName(const QString &sessionId)
{
    return QStringLiteral("signalbox-%1").arg(nameable(sessionId));
}

} // namespace sandbox

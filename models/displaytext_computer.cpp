// The words of Sandboxes.
#include "models/displaytext.h"

#include <QCoreApplication>

namespace models {
namespace {

QString computerText(const char *text)
{
    return QCoreApplication::translate("models::DisplayText", text);
}

} // namespace

Look look(const engine::Computer &computer)
{
    switch (computer.state) {
    case engine::ComputerState::Running:
        return computer.inTurn ? Look{computerText("Working"), QStringLiteral("running"), Tone::Info}
                               : Look{computerText("Running"), QStringLiteral("play"), Tone::Good};
    case engine::ComputerState::Paused:
        return {computerText("Frozen"), QStringLiteral("pause"), Tone::Attention};
    case engine::ComputerState::Stopped:
        return computer.why.isEmpty() ? Look{computerText("Stopped"), QStringLiteral("stop"), Tone::Muted}
                                      : Look{computerText("Stopped"), QStringLiteral("warning"), Tone::Danger};
    }
    return {};
}

QString providerName(const QString &provider)
{
    if (provider == u"docker")
        return computerText("Docker");
    return provider == u"host" ? computerText("This computer") : provider;
}

QString processorText(double percent)
{
    if (percent < 0)
        return QStringLiteral("–");
    return computerText("%1 %").arg(QString::number(percent, 'f', percent < 9.95 ? 1 : 0));
}

QString memorySize(qint64 bytes)
{
    constexpr const char *units[] = {"kB", "MB", "GB", "TB"};
    double value = double(bytes) / 1024;
    int unit = 0;
    for (; value >= 1023.5 && unit < 3; ++unit)
        value /= 1024;
    QString number = QString::number(value, 'f', value < 9.95 ? 1 : 0);
    if (number.endsWith(QStringLiteral(".0")))
        number.chop(2);
    return number + u' ' + QLatin1String(units[unit]);
}

QString memoryText(qint64 bytes, qint64 limit)
{
    if (bytes < 0)
        return limit > 0 ? computerText("of %1").arg(memorySize(limit)) : QStringLiteral("–");
    return limit > 0 ? computerText("%1 of %2").arg(memorySize(bytes), memorySize(limit)) : memorySize(bytes);
}

QString warmLeft(const QDateTime &until, const QDateTime &now)
{
    if (!until.isValid())
        return {};
    const qint64 seconds = (now.msecsTo(until) + 999) / 1000;
    if (seconds <= 0)
        return computerText("over");
    return computerText("%1 left").arg(seconds < 10 ? computerText("%1 s").arg(seconds) : duration(seconds * 1000));
}

QString warmText(const QDateTime &until, const QDateTime &now)
{
    if (!until.isValid())
        return {};
    return until > now ? computerText("warm, %1").arg(warmLeft(until, now)) : computerText("warm time is over");
}

QString leftoverWords(engine::Leftover::Kind kind)
{
    switch (kind) {
    case engine::Leftover::Kind::Container:
        return computerText("Container");
    case engine::Leftover::Kind::Volume:
        return computerText("Volume");
    case engine::Leftover::Kind::Worker:
        return computerText("Worker");
    }
    return {};
}

QString leftoverIcon(engine::Leftover::Kind kind)
{
    switch (kind) {
    case engine::Leftover::Kind::Container:
        return QStringLiteral("sandboxes");
    case engine::Leftover::Kind::Volume:
        return QStringLiteral("volume");
    case engine::Leftover::Kind::Worker:
        return QStringLiteral("tool");
    }
    return {};
}

QString shortId(const QString &id)
{
    return id.section(u':', -1).left(12);
}

QString engineWords(const engine::SandboxEngine &engine)
{
    const QString program = engine.name.isEmpty() ? QStringLiteral("Docker") : engine.name.section(u' ', 0, 0);
    if (!engine.available)
        return computerText("%1: not running").arg(program);
    const QString version = engine.name.section(u' ', 1);
    return version.isEmpty() ? program : program + u' ' + version.section(u'.', 0, 1);
}

} // namespace models

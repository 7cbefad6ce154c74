#include "engine/harness/programfinder.h"

#include <QCoroProcess>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QVersionNumber>

namespace engine {
namespace {

QString productName(HarnessKind kind)
{
    return kind == HarnessKind::Codex ? QStringLiteral("Codex") : QStringLiteral("Claude Code");
}

QString installCommand(HarnessKind kind)
{
    return kind == HarnessKind::Codex ? QStringLiteral("npm install -g @openai/codex")
                                      : QStringLiteral("npm install -g @anthropic-ai/claude-code");
}

QString installAdvice(HarnessKind kind)
{
    return QStringLiteral("Install it with \"%1\", or set the program's path in the agent.").arg(installCommand(kind));
}

bool isProgram(const QString &path)
{
    const QFileInfo info(path);
    return info.isFile() && info.isExecutable();
}

// The places npm puts the package below a module folder; the native program first, since it needs no Node.
QStringList inModules(const QString &folder)
{
    QStringList found;
    const QDir scope(folder + QStringLiteral("/@anthropic-ai"));
    for (const QString &package : scope.entryList({QStringLiteral("claude-code-*")}, QDir::Dirs, QDir::Name)) {
        const QDir nested(scope.filePath(package));
        found << nested.filePath(QStringLiteral("claude")) << nested.filePath(QStringLiteral("bin/claude"));
    }
    const QString package = scope.filePath(QStringLiteral("claude-code"));
    const QDir nested(package + QStringLiteral("/node_modules/@anthropic-ai"));
    for (const QString &native : nested.entryList({QStringLiteral("claude-code-*")}, QDir::Dirs, QDir::Name))
        found << nested.filePath(native + QStringLiteral("/claude"));
    found << package + QStringLiteral("/bin/claude.exe") << package + QStringLiteral("/bin/claude")
          << package + QStringLiteral("/cli.js") << folder + QStringLiteral("/.bin/claude");
    return found;
}

// Codex's native program stands in the package of one platform, beside or below the package that starts it.
QStringList codexInModules(const QString &folder)
{
    QStringList found;
    const QString scope = folder + QStringLiteral("/@openai");
    QStringList packages;
    for (const QString &place : QStringList{scope, scope + QStringLiteral("/codex/node_modules/@openai")}) {
        for (const QString &package : QDir(place).entryList({QStringLiteral("codex*")}, QDir::Dirs, QDir::Name))
            packages.append(place + u'/' + package);
    }
    for (const QString &package : std::as_const(packages)) {
        const QDir vendor(package + QStringLiteral("/vendor"));
        for (const QString &platform : vendor.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name))
            found << vendor.filePath(platform + QStringLiteral("/bin/codex"));
    }
    return found << folder + QStringLiteral("/.bin/codex");
}

// npm's starter of Codex is a script that looks the native program up: without it one process less stands in between.
QString nativeCodex(const QString &path)
{
    const QString real = QFileInfo(path).canonicalFilePath();
    if (!real.endsWith(u"/bin/codex.js"))
        return path;
    const QString modules = QDir(QFileInfo(real).path() + QStringLiteral("/../../..")).canonicalPath();
    for (const QString &candidate : codexInModules(modules)) {
        if (isProgram(candidate) && !candidate.contains(u"/.bin/"))
            return candidate;
    }
    return path;
}

QString versionIn(const QByteArray &output)
{
    static const QRegularExpression pattern(QStringLiteral("(\\d+\\.\\d+\\.\\d+)"));
    return pattern.match(QString::fromUtf8(output.left(4096))).captured(1);
}

Result<HarnessProgram> judged(const QString &path, const QString &version, HarnessKind kind)
{
    const QVersionNumber found = QVersionNumber::fromString(version);
    const QVersionNumber oldest = QVersionNumber::fromString(ProgramFinder::oldestSupported(kind));
    const QStringList tested = ProgramFinder::testedVersions(kind);
    if (found < oldest)
        return fail(ErrorCode::ProgramVersion,
                    QStringLiteral("%1 is %2 %3; version %4 or newer is needed, older ones can't be driven safely. "
                                   "Update it with \"%5\", or name another program.")
                        .arg(path, productName(kind), version, ProgramFinder::oldestSupported(kind), installCommand(kind)));
    HarnessProgram program{path, version, {}};
    if (!tested.contains(version))
        program.warning = QStringLiteral("%1 %2 was not tested with this program (tested: %3).")
                              .arg(productName(kind), version, tested.join(QStringLiteral(", ")));
    return program;
}

} // namespace

ProgramFinder::ProgramFinder(QString searchPath, QString home, std::chrono::milliseconds limit)
    : m_searchPath(searchPath.isEmpty() ? qEnvironmentVariable("PATH") : std::move(searchPath)),
      m_home(home.isEmpty() ? QDir::homePath() : std::move(home)), m_limit(limit)
{
}

QString ProgramFinder::oldestSupported(HarnessKind kind)
{
    return kind == HarnessKind::Codex ? QStringLiteral("0.171.0") : QStringLiteral("2.1.197");
}

QStringList ProgramFinder::testedVersions(HarnessKind kind)
{
    if (kind == HarnessKind::Codex)
        return {QStringLiteral("0.171.0")};
    return {QStringLiteral("2.1.197"), QStringLiteral("2.1.332")};
}

QStringList ProgramFinder::candidates(HarnessKind kind) const
{
    QStringList found;
    if (kind == HarnessKind::Codex) {
        for (const QString &folder : m_searchPath.split(u':', Qt::SkipEmptyParts))
            found.append(folder + QStringLiteral("/codex"));
        found << m_home + QStringLiteral("/.local/bin/codex") << m_home + QStringLiteral("/.npm-global/bin/codex");
        for (const QString &modules : QStringList{m_home + QStringLiteral("/.npm-global/lib/node_modules"),
                                       m_home + QStringLiteral("/node_modules"),
                                       QStringLiteral("/usr/local/lib/node_modules"), QStringLiteral("/usr/lib/node_modules")})
            found += codexInModules(modules);
        return found;
    }
    for (const QString &folder : m_searchPath.split(u':', Qt::SkipEmptyParts))
        found.append(folder + QStringLiteral("/claude"));
    found << m_home + QStringLiteral("/.local/bin/claude") << m_home + QStringLiteral("/.claude/local/claude")
          << m_home + QStringLiteral("/.npm-global/bin/claude");
    for (const char *below : {"/.claude/local/node_modules", "/.npm-global/lib/node_modules", "/node_modules"})
        found += inModules(m_home + QLatin1String(below));
    for (const char *modules : {"/usr/local/lib/node_modules", "/usr/lib/node_modules"})
        found += inModules(QString::fromLatin1(modules));
    return found;
}

Result<QString> ProgramFinder::locate(const QString &setting, HarnessKind kind) const
{
    if (!setting.isEmpty()) {
        const QString path = setting.startsWith(u"~/") ? m_home + setting.mid(1) : setting;
        if (isProgram(path))
            return QFileInfo(path).absoluteFilePath();
        return fail(ErrorCode::ProgramMissing,
                    QStringLiteral("The agent's program %1 %2. %3")
                        .arg(path,
                             QFileInfo::exists(path) ? QStringLiteral("is not an executable file")
                                                     : QStringLiteral("does not exist"),
                             installAdvice(kind)));
    }
    for (const QString &path : candidates(kind)) {
        if (isProgram(path))
            return path;
    }
    return fail(ErrorCode::ProgramMissing,
                QStringLiteral("%1 was not found: looked in PATH (%2), and in the npm folders below %3, /usr/local/lib "
                               "and /usr/lib. %4")
                    .arg(productName(kind), m_searchPath, m_home, installAdvice(kind)));
}

QCoro::Task<Result<QString>> ProgramFinder::probe(QString path)
{
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("DISABLE_AUTOUPDATER"), QStringLiteral("1"));
    process.setProcessEnvironment(environment);
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.setStandardInputFile(QProcess::nullDevice());
    const QStringList arguments{QStringLiteral("--version")};
    const bool started = co_await qCoro(process).start(path, arguments);
    bool ended = process.state() == QProcess::NotRunning;
    if (started && !ended)
        ended = co_await qCoro(process).waitForFinished(m_limit);
    if (!ended) {
        process.kill();
        co_await qCoro(process).waitForFinished();
        co_return fail(ErrorCode::ProgramVersion,
                       QStringLiteral("%1 did not answer \"--version\" within %2 s. Try it in a terminal, or name another "
                                      "program in the agent.")
                           .arg(path)
                           .arg(m_limit.count() / 1000.0));
    }
    const QByteArray output = process.readAll();
    const QString version = versionIn(output);
    if (!started || version.isEmpty())
        co_return fail(ErrorCode::ProgramVersion,
                       QStringLiteral("%1 did not tell its version (%2). Try it in a terminal, or name another program in the "
                                      "agent.")
                           .arg(path, started ? QString::fromUtf8(output.left(200)).trimmed() : process.errorString()));
    co_return version;
}

QCoro::Task<Result<HarnessProgram>> ProgramFinder::find(QString setting, HarnessKind kind)
{
    Result<QString> path = locate(setting, kind);
    if (!path)
        co_return tl::unexpected<Error>(path.error());
    if (kind == HarnessKind::Codex)
        path = nativeCodex(*path);
    const QDateTime modified = QFileInfo(*path).lastModified();
    const auto known = m_probed.constFind(*path);
    if (known != m_probed.constEnd() && known->modified == modified)
        co_return judged(*path, known->version, kind);
    const Result<QString> version = co_await probe(*path);
    if (!version)
        co_return tl::unexpected<Error>(version.error());
    m_probed.insert(*path, {modified, *version});
    co_return judged(*path, *version, kind);
}

} // namespace engine

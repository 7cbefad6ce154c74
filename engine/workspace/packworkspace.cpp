#include "engine/workspace/packworkspace.h"

#include "sandbox/docker/tarfile.h"

#include <QCoreApplication>
#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QProcess>
#include <QSet>
#include <filesystem>

namespace engine {

namespace {

constexpr int computerUser = 1000;
constexpr int gitMs = 60 * 1000;

QString trPack(const char *text)
{
    return QCoreApplication::translate("engine::Workspace", text);
}

QStringList everythingBelow(const QString &folder, const QString &inside = {})
{
    QStringList paths;
    const QDir top(folder);
    QDirIterator below(inside.isEmpty() ? folder : top.filePath(inside),
                       QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden | QDir::System, QDirIterator::Subdirectories);
    while (below.hasNext())
        paths.append(top.relativeFilePath(below.next()));
    return paths;
}

// What git would show: ignored files stay behind. Empty with an error text when git cannot tell.
Result<QStringList> pathsOfRepository(const QString &folder)
{
    QProcess git;
    git.setWorkingDirectory(folder);
    git.start(QStringLiteral("git"), {QStringLiteral("ls-files"), QStringLiteral("-z"), QStringLiteral("--cached"),
                                      QStringLiteral("--others"), QStringLiteral("--exclude-standard")});
    if (!git.waitForFinished(gitMs) || git.exitCode() != 0)
        return fail(ErrorCode::Invalid,
                    trPack("The workspace %1 is a git repository, but git could not list its files (%2). Install git, or "
                           "choose another folder.")
                        .arg(folder, QString::fromUtf8(git.readAllStandardError()).trimmed()));
    QStringList paths = everythingBelow(folder, QStringLiteral(".git"));
    paths.prepend(QStringLiteral(".git"));
    for (const QByteArray &path : git.readAllStandardOutput().split('\0')) {
        if (!path.isEmpty())
            paths.append(QString::fromUtf8(path));
    }
    return paths;
}

void addParents(const QString &path, QSet<QString> &known, sandbox::TarWriter &to)
{
    const qsizetype slash = path.lastIndexOf(u'/');
    if (slash <= 0 || known.contains(path.left(slash)))
        return;
    addParents(path.left(slash), known, to);
    known.insert(path.left(slash));
    to.addFolder(path.left(slash), 0755, computerUser);
}

} // namespace

Result<int> packWorkspace(const QString &folder, QIODevice &to)
{
    const QDir top(folder);
    const bool isRepository = QFileInfo(top.filePath(QStringLiteral(".git"))).isDir();
    const Result<QStringList> paths = isRepository ? pathsOfRepository(folder) : Result<QStringList>(everythingBelow(folder));
    if (!paths)
        return tl::unexpected<Error>(paths.error());
    sandbox::TarWriter tar(to);
    QSet<QString> folders;
    int files = 0;
    for (const QString &path : *paths) {
        const QFileInfo info(top.filePath(path));
        addParents(path, folders, tar);
        if (info.isSymLink()) {
            std::error_code unread;
            const auto target = std::filesystem::read_symlink(QFile::encodeName(info.filePath()).toStdString(), unread);
            tar.addLink(path, QFile::decodeName(target.c_str()), computerUser);
            ++files;
        } else if (info.isDir()) {
            if (!folders.contains(path))
                tar.addFolder(path, 0755, computerUser);
            folders.insert(path);
        } else if (info.isFile()) { // neither what git deleted nor a pipe or socket
            tar.addFrom(path, info.filePath(), computerUser);
            ++files;
        }
    }
    if (!tar.finish())
        return fail(ErrorCode::Invalid, trPack("The workspace %1 could not be copied: %2").arg(folder, tar.error()));
    return files;
}

} // namespace engine

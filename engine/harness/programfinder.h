#pragma once

#include "engine/types/error.h"
#include "engine/types/states.h"

#include <QCoroTask>
#include <QDateTime>
#include <QHash>
#include <QStringList>
#include <chrono>

namespace engine {

struct HarnessProgram
{
    QString path;
    QString version; // "2.1.332"
    QString warning; // allowed, but not one of the tested versions; empty: none

    bool operator==(const HarnessProgram &) const = default;
};

// Finds a harness program and asks it for its version. Asked once per file and time of change. Engine thread.
class ProgramFinder
{
public:
    // Empty: the process's PATH and home folder.
    explicit ProgramFinder(QString searchPath = {}, QString home = {},
                           std::chrono::milliseconds limit = std::chrono::seconds(20));

    // setting: a path, or empty to search. ProgramMissing says where was looked, ProgramVersion what was found.
    QCoro::Task<Result<HarnessProgram>> find(QString setting, HarnessKind kind = HarnessKind::Claude);

    static QString oldestSupported(HarnessKind kind = HarnessKind::Claude);
    static QStringList testedVersions(HarnessKind kind = HarnessKind::Claude);

private:
    struct Probed
    {
        QDateTime modified;
        QString version;
    };

    QStringList candidates(HarnessKind kind) const;
    Result<QString> locate(const QString &setting, HarnessKind kind) const;
    QCoro::Task<Result<QString>> probe(QString path);

    QString m_searchPath;
    QString m_home;
    std::chrono::milliseconds m_limit;
    QHash<QString, Probed> m_probed;
};

} // namespace engine

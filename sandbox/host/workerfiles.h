#pragma once

#include "sandbox/sandbox.h"

namespace sandbox {

// What a host worker is called and where its files are: socket, locked pid file, record.
struct WorkerFiles
{
    QString name; // signalbox-<session>-<generation>
    QString socket;
    QString pidFile;
    QString record;

    // Names that are too long or unsafe for a file are replaced by their hash.
    static Result<WorkerFiles> of(const QString &runtimeFolder, const QString &sessionId, int generation);

    bool exist() const;
    // The worker holds the lock on its pid file exactly as long as it lives.
    bool isAlive() const;
    qint64 workerPid() const; // 0: none written
    void remove() const;
};

struct WorkerRecord
{
    QString sessionId;
    int generation = 0;
    QMap<QString, QString> labels;
};

Result<void> writeRecord(const WorkerFiles &files, const WorkerRecord &record);
std::optional<WorkerRecord> readRecord(const QString &path);
// Every record below the folder. A missing folder is an empty list.
Result<QList<WorkerRecord>> readRecords(const QString &runtimeFolder);
// Makes the folder (0700) when missing; refused when it belongs to or may be written by somebody else.
Result<void> prepareRuntimeFolder(const QString &folder);

} // namespace sandbox

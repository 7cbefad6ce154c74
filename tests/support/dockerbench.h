#pragma once

#include "sandbox/docker/dockerprovider.h"

#include <QProcess>
#include <QTemporaryDir>

// A Docker daemon of the test's own: data, containerd and socket in a folder that goes with it. Needs root and Debian's
// docker.io; a test without them fails, since both can be had.
class TestDockerd
{
public:
    explicit TestDockerd(bool liveRestore = true);
    ~TestDockerd();

    // False: `error()` says why.
    bool start();
    // As an administrator does it: SIGTERM.
    bool stop();
    // SIGKILL of the daemon alone; containerd and, with live-restore, the containers go on.
    bool kill();
    bool isRunning() const { return m_process.state() != QProcess::NotRunning; }
    QString socketPath() const { return m_folder.filePath(QStringLiteral("docker.sock")); }
    QString error() const { return m_error; }
    // Imports a tar of a whole system (installer/agentbase.sh makes it) under the name.
    bool importBase(const QString &tag);

private:
    bool startContainerd();
    void removeContainers();
    void endStrays();

    QTemporaryDir m_folder{QStringLiteral("/tmp/sbd-XXXXXX")}; // short: socket paths have a limit
    QProcess m_containerd; // of our own, so that a killed daemon finds it as it was
    QProcess m_process;
    bool m_liveRestore = true;
    QString m_error;
};

// What installer/agentbase.sh printed, from the environment; empty with a reason where it is not set.
QString agentBaseArchive(QString &error);

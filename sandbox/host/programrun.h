#pragma once

#include <QFuture>
#include <QProcess>
#include <QPromise>
#include <QTimer>
#include <chrono>

namespace sandbox {

// One run of a short-lived program with an empty environment and no input; killed when it takes too long.
class ProgramRun
{
public:
    ProgramRun(const QString &program, const QStringList &arguments, std::chrono::milliseconds limit);
    QFuture<void> ended() const { return m_promise.future(); }
    // -1: it did not start, was killed, or crashed.
    int exitCode() const;
    // What it said on its error output, else why it did not run.
    QString complaint();

private:
    void finish();

    QPromise<void> m_promise;
    QProcess m_process;
    QTimer m_limit;
};

} // namespace sandbox

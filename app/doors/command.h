#pragma once

#include "app/doors/arguments.h"
#include "app/doors/console.h"
#include "app/doors/exitcode.h"
#include "engine/engineclient.h"

#include <QFutureWatcher>
#include <memory>

namespace app {

// A command line and what came with it.
struct Request
{
    Arguments arguments;
    QString workingFolder;
    QString input; // what --input or - named
    QString who;
};

// One command of the command line, carried out against an engine; ends with finished(). GUI thread. Deleting it stops
// the waiting, never a run.
class Command : public QObject
{
    Q_OBJECT

public:
    Command(engine::EngineClient &engine, Request request, Console &console);
    virtual void start() = 0;

signals:
    void finished(app::ExitCode code);

protected:
    // Calls `next` with the value, or ends the command with the error. A watcher, since Qt 6.4's QFuture::then()
    // aborts when its context died before the answer.
    template<class T, class F> void then(QFuture<engine::Result<T>> future, F next)
    {
        auto *watcher = new QFutureWatcher<engine::Result<T>>(this);
        connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, next] {
            watcher->deleteLater();
            const QFuture<engine::Result<T>> done = watcher->future();
            if (done.isCanceled() || done.resultCount() == 0)
                endWithError({engine::ErrorCode::ShuttingDown,
                              QStringLiteral("The engine closed before it answered."),
                              {}});
            else if (const engine::Result<T> result = done.result(); !result)
                endWithError(result.error());
            else
            {
                if constexpr (std::is_void_v<T>)
                    next();
                else
                    next(*result);
            }
        });
        watcher->setFuture(future);
    }
    void end(ExitCode code);
    void endWithError(const engine::Error &error);
    void printLine(const QString &line) { m_console.out(line + u'\n'); }

    engine::EngineClient &m_engine;
    const Request m_request;
    const Arguments &m_arguments = m_request.arguments;
    Console &m_console;

private:
    bool m_ended = false;
};

std::unique_ptr<Command> makeCommand(engine::EngineClient &engine, const Request &request, Console &console);

} // namespace app

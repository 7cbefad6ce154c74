#pragma once

#include "app/doors/command.h"
#include "app/doors/controlmessage.h"

#include <QLocalSocket>

namespace app {

// One caller of a running instance: carries its command out and is its console. A caller that goes away ends the
// command's waiting, never a run. GUI thread.
class ControlConnection final : public QObject, public Console
{
    Q_OBJECT

public:
    ControlConnection(QLocalSocket *socket, engine::EngineClient &engine, const QString &kind, QObject *parent);

    void out(const QString &text) override;
    void err(const QString &text) override;
    bool canAsk() const override;
    void ask(const QString &question, std::function<void(const QString &)> answered) override;

signals:
    void raiseRequested();

private:
    void read();
    void take(const ControlMessage &message);
    void perform(const ControlMessage &message);
    void send(const ControlMessage &message);
    void exit(ExitCode code);

    QLocalSocket *m_socket;
    engine::EngineClient &m_engine;
    const QString m_kind;
    QByteArray m_buffer;
    std::unique_ptr<Command> m_command;
    bool m_canAsk = false;
    std::function<void(const QString &)> m_answered;
};

} // namespace app

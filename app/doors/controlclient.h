#pragma once

#include "app/doors/console.h"
#include "app/doors/controlmessage.h"
#include "app/doors/exitcode.h"

#include <QLocalSocket>
#include <QObject>
#include <QTimer>

namespace app {

// Sends one command to the instance that holds the data folder and shows what it answers. GUI thread.
class ControlClient final : public QObject
{
    Q_OBJECT

public:
    ControlClient(const QString &path, ControlMessage request, Console &console);
    void start();
    // How long an instance may take to greet.
    void setPatience(std::chrono::milliseconds patience) { m_patience.setInterval(patience); }

signals:
    // Nobody listens there.
    void unavailable();
    void finished(app::ExitCode code);

private:
    void read();
    void take(const ControlMessage &message);
    void giveUp();
    void lose();

    const QString m_path;
    const ControlMessage m_request;
    Console &m_console;
    QLocalSocket m_socket;
    QTimer m_patience;
    QByteArray m_buffer;
    bool m_greeted = false;
    bool m_ended = false;
};

} // namespace app

#pragma once

#include <QObject>
#include <QSocketNotifier>

namespace app {

// SIGTERM and SIGINT as a Qt signal. One object a process.
class TerminationSignal final : public QObject
{
    Q_OBJECT

public:
    // Before the application object, whose threads inherit the mask.
    static void block();
    TerminationSignal();
    ~TerminationSignal() override;

signals:
    void received(int number);

private:
    void read();

    int m_descriptor;
    QSocketNotifier m_notifier;
};

} // namespace app

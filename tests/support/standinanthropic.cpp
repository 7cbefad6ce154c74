#include "tests/support/standinanthropic.h"

#include "tests/support/standinconnection.h"

#include <QTcpServer>
#include <QThread>
#include <future>

namespace {

// The listener is born and dies in the thread that answers.
class StandInThread final : public QThread
{
public:
    StandInThread(StandInState &state, quint16 port) : m_state(state), m_wantedPort(port) {}

    std::future<quint16> listening() { return m_listening.get_future(); }

protected:
    void run() override
    {
        QTcpServer server;
        connect(&server, &QTcpServer::newConnection, &server, [this, &server] {
            while (QTcpSocket *socket = server.nextPendingConnection())
                new StandInConnection(socket, m_state, &server);
        });
        server.listen(QHostAddress::LocalHost, m_wantedPort);
        m_listening.set_value(server.serverPort());
        exec();
    }

private:
    StandInState &m_state;
    quint16 m_wantedPort;
    std::promise<quint16> m_listening;
};

} // namespace

StandInAnthropic::StandInAnthropic(quint16 port) : m_state(std::make_unique<StandInState>())
{
    auto thread = std::make_unique<StandInThread>(*m_state, port);
    std::future<quint16> listening = thread->listening();
    thread->start();
    m_port = listening.get();
    m_thread = std::move(thread);
}

StandInAnthropic::~StandInAnthropic()
{
    m_thread->quit();
    m_thread->wait();
}

quint16 StandInAnthropic::port() const
{
    return m_port;
}

QList<StandInAnthropic::Request> StandInAnthropic::requests() const
{
    const QMutexLocker lock(&m_state->mutex);
    return m_state->requests;
}

QStringList StandInAnthropic::paths() const
{
    const QMutexLocker lock(&m_state->mutex);
    return m_state->paths;
}

void StandInAnthropic::clear()
{
    const QMutexLocker lock(&m_state->mutex);
    m_state->requests.clear();
    m_state->paths.clear();
    m_state->failures.clear();
}

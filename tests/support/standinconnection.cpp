#include "tests/support/standinconnection.h"

#include <QTimer>

StandInConnection::StandInConnection(QTcpSocket *socket, StandInState &state, QObject *parent)
    : QObject(parent), m_socket(socket), m_state(state)
{
    socket->setParent(this);
    socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
    connect(socket, &QTcpSocket::readyRead, this, &StandInConnection::read);
    connect(socket, &QTcpSocket::disconnected, this, [this] {
        if (m_busy && m_noted >= 0) {
            const QMutexLocker lock(&m_state.mutex);
            if (m_noted < m_state.requests.size())
                m_state.requests[m_noted].disconnected = true;
        }
        deleteLater();
    });
}

void StandInConnection::read()
{
    m_buffer += m_socket->readAll();
    while (!m_busy && takeRequest()) {
    }
}

bool StandInConnection::takeRequest()
{
    const qsizetype end = m_buffer.indexOf("\r\n\r\n");
    if (end < 0)
        return false;
    QList<QByteArray> lines = m_buffer.left(end).split('\n');
    const QList<QByteArray> first = lines.takeFirst().trimmed().split(' ');
    m_headers.clear();
    for (const QByteArray &line : lines) {
        const qsizetype colon = line.indexOf(':');
        m_headers.insert(line.left(colon).trimmed().toLower(), line.mid(colon + 1).trimmed());
    }
    const qsizetype length = m_headers.value("content-length").toLongLong();
    if (m_buffer.size() < end + 4 + length)
        return false;
    const QByteArray body = m_buffer.mid(end + 4, length);
    m_buffer.remove(0, end + 4 + length);
    m_busy = true;
    answer(first.value(0), first.value(1), body);
    return true;
}

void StandInConnection::answer(const QByteArray &method, const QByteArray &target, const QByteArray &body)
{
    const QByteArray path = target.left(target.contains('?') ? target.indexOf('?') : target.size());
    m_noted = -1;
    {
        const QMutexLocker lock(&m_state.mutex);
        m_state.paths.append(QString::fromUtf8(path));
    }
    if (method == "HEAD") {
        writeWhole({}, false);
        return;
    }
    const StandInAnswer result = respond(method, path, body);
    if (result.steps.isEmpty())
        writeWhole(result);
    else
        writeSteps(result);
}

StandInAnswer StandInConnection::respond(const QByteArray &method, const QByteArray &path, const QByteArray &body)
{
    StandInAnswer result = standInError(404, QStringLiteral("no such path"));
    QByteArray key = m_headers.value("x-api-key");
    if (key.isEmpty())
        key = m_headers.value("authorization").replace("Bearer ", "");
    if (method == "POST" && path.startsWith("/v1/messages")) {
        const StandInPlan plan = standInPlan(body);
        if (path == "/v1/messages")
            note(path, plan);
        if (key == "bad-key")
            result = standInError(401, QStringLiteral("invalid x-api-key"));
        else if (path == "/v1/messages/count_tokens")
            result = {200, "{\"input_tokens\":1234}", {}, false};
        else if (path == "/v1/messages")
            result = answerMessages(plan);
    }
    return result;
}

StandInAnswer StandInConnection::answerMessages(const StandInPlan &plan)
{
    const QStringList words = plan.arguments.split(u' ', Qt::SkipEmptyParts);
    if (plan.name == u"status")
        return standInError(words.value(0).toInt());
    if (plan.name == u"statusonce") {
        const QMutexLocker lock(&m_state.mutex);
        if (++m_state.failures[plan.arguments] <= words.value(1, QStringLiteral("1")).toInt())
            return standInError(words.value(0).toInt());
    }
    return standInAnswer(plan);
}

void StandInConnection::note(const QByteArray &path, const StandInPlan &plan)
{
    StandInAnthropic::Request request;
    request.path = QString::fromUtf8(path);
    request.model = plan.model;
    request.messageCount = plan.messageCount;
    request.directive = plan.name;
    request.arguments = plan.arguments;
    request.lastUserText = plan.lastUserText;
    request.toolRounds = plan.roundsSinceText;
    request.lastToolResult = plan.lastToolResult;
    request.sessionHeader = QString::fromUtf8(m_headers.value("x-claude-code-session-id"));
    request.retry = m_headers.value("x-stainless-retry-count").toInt();
    request.key = QString::fromUtf8(m_headers.contains("x-api-key") ? m_headers.value("x-api-key")
                                                                    : m_headers.value("authorization"));
    const QMutexLocker lock(&m_state.mutex);
    m_noted = m_state.requests.size();
    m_state.requests.append(request);
}

void StandInConnection::writeWhole(const StandInAnswer &answer, bool withBody)
{
    QByteArray head = "HTTP/1.1 " + QByteArray::number(answer.status) + (answer.status == 200 ? " OK" : " Error") +
                      "\r\ncontent-type: application/json\r\nrequest-id: req_standin\r\ncontent-length: " +
                      QByteArray::number(withBody ? answer.body.size() : 0) + "\r\n";
    if (answer.status == 429 || answer.status == 500 || answer.status == 529)
        head += "x-should-retry: true\r\n";
    m_socket->write(head + "\r\n" + (withBody ? answer.body : QByteArray()));
    endAnswer();
}

void StandInConnection::writeSteps(const StandInAnswer &answer)
{
    m_answer = answer;
    m_socket->write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n"
                    "transfer-encoding: chunked\r\nrequest-id: req_standin\r\n\r\n");
    writeStep(0);
}

void StandInConnection::writeStep(qsizetype index)
{
    if (index == m_answer.steps.size()) {
        if (m_answer.cut) {
            m_busy = false;
            m_socket->disconnectFromHost();
            return;
        }
        m_socket->write("0\r\n\r\n");
        endAnswer();
        return;
    }
    const StandInStep &step = m_answer.steps.at(index);
    const auto write = [this, index] {
        const QByteArray &bytes = m_answer.steps.at(index).bytes;
        m_socket->write(QByteArray::number(bytes.size(), 16) + "\r\n" + bytes + "\r\n");
        writeStep(index + 1);
    };
    if (step.delayMs > 0)
        QTimer::singleShot(step.delayMs, this, write);
    else
        write();
}

void StandInConnection::endAnswer()
{
    m_busy = false;
    if (m_headers.value("connection").toLower() == "close") {
        m_socket->disconnectFromHost();
        return;
    }
    if (!m_buffer.isEmpty())
        QMetaObject::invokeMethod(this, &StandInConnection::read, Qt::QueuedConnection);
}

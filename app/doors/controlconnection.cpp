#include "app/doors/controlconnection.h"

#include "app/doors/username.h"

#include <QCoreApplication>

namespace app {

using Kind = ControlMessage::Kind;

namespace {
constexpr qsizetype longestControlLine = 64 * 1024 * 1024;
}

ControlConnection::ControlConnection(QLocalSocket *socket, engine::EngineClient &engine, const QString &kind,
                                     QObject *parent)
    : QObject(parent), m_socket(socket), m_engine(engine), m_kind(kind)
{
    socket->setParent(this);
    connect(socket, &QLocalSocket::readyRead, this, &ControlConnection::read);
    connect(socket, &QLocalSocket::disconnected, this, &QObject::deleteLater);
    ControlMessage hello;
    hello.kind = Kind::Hello;
    hello.text = kind;
    send(hello);
}

void ControlConnection::read()
{
    m_buffer += m_socket->readAll();
    if (m_buffer.size() > longestControlLine) {
        m_socket->abort();
        return;
    }
    for (qsizetype end = m_buffer.indexOf('\n'); end >= 0; end = m_buffer.indexOf('\n')) {
        const QByteArray line = m_buffer.left(end);
        m_buffer.remove(0, end + 1);
        if (const auto message = decodeControl(line)) {
            take(*message);
        } else {
            err(QStringLiteral(
                "signalbox: the running instance did not understand the request; is it of another version?\n"));
            exit(ExitCode::Unavailable);
        }
    }
}

void ControlConnection::take(const ControlMessage &message)
{
    if (message.kind == Kind::Answer && m_answered) {
        const auto answered = std::exchange(m_answered, nullptr);
        answered(message.text);
    } else if (message.kind == Kind::Request && !m_command) {
        perform(message);
    }
}

void ControlConnection::perform(const ControlMessage &message)
{
    const auto arguments = parseArguments(message.words);
    if (!arguments) {
        err(u"signalbox: " + arguments.error() + u'\n');
        exit(ExitCode::Usage);
        return;
    }
    if (arguments->action == Action::Raise && m_kind == u"window") {
        out(QStringLiteral("Signalbox is open already; its window was raised.\n"));
        emit raiseRequested();
        exit(ExitCode::Ok);
        return;
    }
    m_canAsk = message.canAsk;
    m_command = makeCommand(m_engine, {*arguments, message.workingFolder, message.input, userName()}, *this);
    if (!m_command) {
        err(QStringLiteral("signalbox: a Signalbox without a window (process %1) holds this data folder. End it first "
                           "or name another folder with --data.\n")
                .arg(QCoreApplication::applicationPid()));
        exit(ExitCode::Unavailable);
        return;
    }
    connect(m_command.get(), &Command::finished, this, &ControlConnection::exit);
    m_command->start();
}

void ControlConnection::send(const ControlMessage &message)
{
    m_socket->write(encode(message));
}

void ControlConnection::out(const QString &text)
{
    ControlMessage message;
    message.kind = Kind::Out;
    message.text = text;
    send(message);
}

void ControlConnection::err(const QString &text)
{
    ControlMessage message;
    message.kind = Kind::Err;
    message.text = text;
    send(message);
}

bool ControlConnection::canAsk() const
{
    return m_canAsk;
}

void ControlConnection::ask(const QString &question, std::function<void(const QString &)> answered)
{
    m_answered = std::move(answered);
    ControlMessage message;
    message.kind = Kind::Ask;
    message.text = question;
    send(message);
}

void ControlConnection::exit(ExitCode code)
{
    ControlMessage message;
    message.kind = Kind::Exit;
    message.number = int(code);
    send(message);
    m_socket->disconnectFromServer();
}

} // namespace app

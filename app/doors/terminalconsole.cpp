#include "app/doors/terminalconsole.h"

#include <cstdio>
#include <unistd.h>

namespace app {

namespace {

void writeWhole(FILE *stream, const QString &text)
{
    const QByteArray bytes = text.toUtf8();
    std::fwrite(bytes.constData(), 1, size_t(bytes.size()), stream);
    std::fflush(stream);
}

} // namespace

void TerminalConsole::out(const QString &text)
{
    writeWhole(stdout, text);
}

void TerminalConsole::err(const QString &text)
{
    writeWhole(stderr, text);
}

bool TerminalConsole::canAsk() const
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

void TerminalConsole::ask(const QString &question, std::function<void(const QString &)> answered)
{
    err(question);
    m_answered = std::move(answered);
    m_notifier = std::make_unique<QSocketNotifier>(STDIN_FILENO, QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &TerminalConsole::readAnswer);
}

void TerminalConsole::readAnswer()
{
    // A terminal hands over whole lines.
    char line[1024];
    const ssize_t count = ::read(STDIN_FILENO, line, sizeof line);
    m_notifier->setEnabled(false);
    m_notifier.release()->deleteLater();
    const auto answered = std::exchange(m_answered, nullptr);
    answered(count > 0 ? QString::fromLocal8Bit(line, count) : QString());
}

} // namespace app

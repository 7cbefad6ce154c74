#pragma once

#include "app/doors/console.h"

#include <QObject>
#include <QSocketNotifier>
#include <memory>

namespace app {

// This process's own standard streams.
class TerminalConsole final : public QObject, public Console
{
    Q_OBJECT

public:
    void out(const QString &text) override;
    void err(const QString &text) override;
    bool canAsk() const override;
    void ask(const QString &question, std::function<void(const QString &)> answered) override;

private:
    void readAnswer();

    std::unique_ptr<QSocketNotifier> m_notifier;
    std::function<void(const QString &)> m_answered;
};

} // namespace app

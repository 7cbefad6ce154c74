#pragma once

#include <QString>
#include <functional>

namespace app {

// Where a command writes and asks: the terminal of this process or one at the other end of the control socket.
class Console
{
public:
    virtual ~Console() = default;
    virtual void out(const QString &text) = 0;
    virtual void err(const QString &text) = 0;
    // A person can be asked.
    virtual bool canAsk() const = 0;
    virtual void ask(const QString &question, std::function<void(const QString &)> answered) = 0;
};

} // namespace app

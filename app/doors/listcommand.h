#pragma once

#include "app/doors/command.h"

namespace app {

// The commands that only look: sessions, agents, doctor.
class ListCommand final : public Command
{
    Q_OBJECT

public:
    using Command::Command;
    void start() override;

private:
    void listSessions();
    void showSession();
    void printSession(const engine::Session &session, const QList<engine::Run> &runs,
                      const QList<engine::Block> &blocks);
    void listAgents();
    void examine();
};

} // namespace app

#pragma once

#include "app/doors/command.h"

namespace app {

// `signalbox approvals list | show | resolve | continue | extend`.
class ApprovalCommand final : public Command
{
    Q_OBJECT

public:
    using Command::Command;
    void start() override;

private:
    void list();
    void show();
    void resolve();
    void askAndResolve(const engine::Approval &approval);
    void send(const engine::Digest &digest);
    void continueRun();
    void extend();
    QString describe(const engine::Approval &approval) const;
};

} // namespace app

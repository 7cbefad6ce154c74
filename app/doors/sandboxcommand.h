#pragma once

#include "app/doors/command.h"

namespace app {

// sandboxes: what is there, what is left over, images and their building.
class SandboxCommand final : public Command
{
    Q_OBJECT

public:
    using Command::Command;
    void start() override;

private:
    void listComputers();
    void listLeftovers();
    void tidy();
    void removeNext(QList<engine::Leftover> left, int removed);
    void listImages();
    void build();
    void take(const engine::FeedBatch &batch);
};

} // namespace app

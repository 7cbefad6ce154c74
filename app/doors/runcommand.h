#pragma once

#include "app/doors/command.h"

#include <QHash>

namespace app {

// `signalbox run`: submits a prompt and, unless told otherwise, waits for the run's end or its next pause.
class RunCommand final : public Command
{
    Q_OBJECT

public:
    using Command::Command;
    void start() override;

private:
    void findAgent(const QList<engine::Agent> &agents);
    void createSession(const engine::Agent &agent);
    void submit(const engine::SessionId &session);
    void watch(const engine::Run &run);
    void take(const engine::FeedBatch &batch);
    void printLive(const engine::LiveText &live);
    void printBlock(const engine::Block &block);
    void settle(const engine::Run &run);
    void report(const engine::Run &run, const QString &answer);
    void reportPause(const engine::Run &run, const QString &answer);

    engine::RunId m_run;
    QHash<QString, qsizetype> m_printed; // characters of each streamed answer
    bool m_settled = false;
};

} // namespace app

// The computers, leftovers and images of the engine in memory.
#include "support/fakeengineclient.h"

using namespace engine;

Computer *FakeEngineClient::findComputer(const SessionId &id)
{
    const auto found =
        std::find_if(computerRows.begin(), computerRows.end(), [&](const Computer &row) { return row.sessionId == id; });
    return found == computerRows.end() ? nullptr : &*found;
}

void FakeEngineClient::computersChangedLater()
{
    FeedBatch batch;
    batch.computersChanged = true;
    feedLater(batch);
}

void FakeEngineClient::putComputer(const Computer &computer)
{
    if (Computer *known = findComputer(computer.sessionId))
        *known = computer;
    else
        computerRows.append(computer);
    FeedBatch batch;
    batch.computersChanged = true;
    push(batch);
}

void FakeEngineClient::pushProgress(const ImageProgress &progress)
{
    if (progress.finished)
        m_isBuilding = false;
    FeedBatch batch;
    batch.imageProgress = {progress};
    push(batch);
}

QFuture<Result<SandboxEngine>> FakeEngineClient::sandboxEngine()
{
    calls.append(QStringLiteral("sandboxEngine"));
    return answer<SandboxEngine>(QStringLiteral("sandboxEngine"), [this]() -> Result<SandboxEngine> { return sandboxEngineRow; });
}

QFuture<Result<QList<Computer>>> FakeEngineClient::computers(bool usage)
{
    calls.append(usage ? QStringLiteral("computers with usage") : QStringLiteral("computers"));
    return answer<QList<Computer>>(QStringLiteral("computers"), [&]() -> Result<QList<Computer>> {
        QList<Computer> rows = computerRows;
        for (Computer &row : rows) {
            if (usage)
                continue;
            row.cpuPercent = -1;
            row.memoryBytes = -1;
            row.processes = -1;
        }
        return rows;
    });
}

QFuture<Result<QList<Protection>>> FakeEngineClient::checklist(const SessionId &id)
{
    calls.append(QStringLiteral("checklist %1").arg(id.value));
    return answer<QList<Protection>>(QStringLiteral("checklist"), [&]() -> Result<QList<Protection>> {
        return findComputer(id) ? Result<QList<Protection>>(checklistRows.value(id.value)) : absent<QList<Protection>>(id.value);
    });
}

Result<void> FakeEngineClient::setComputerState(const SessionId &id, ComputerState state)
{
    Computer *computer = findComputer(id);
    if (!computer)
        return absent<void>(id.value);
    if (state != ComputerState::Stopped && !computer->canPause)
        return fail(ErrorCode::NotSupported, QStringLiteral("The provider %1 cannot pause.").arg(computer->provider));
    if (state == ComputerState::Stopped && computer->inTurn)
        return fail(ErrorCode::Conflict, QStringLiteral("Session %1 has a run under way. Cancel it first.").arg(id.value));
    computer->state = state;
    computersChangedLater();
    return {};
}

QFuture<Result<void>> FakeEngineClient::pauseComputer(const SessionId &id, const QString &who)
{
    calls.append(QStringLiteral("pauseComputer %1 by %2").arg(id.value, who));
    return answer<void>(QStringLiteral("pauseComputer"), [&] { return setComputerState(id, ComputerState::Paused); });
}

QFuture<Result<void>> FakeEngineClient::resumeComputer(const SessionId &id, const QString &who)
{
    calls.append(QStringLiteral("resumeComputer %1 by %2").arg(id.value, who));
    return answer<void>(QStringLiteral("resumeComputer"), [&] { return setComputerState(id, ComputerState::Running); });
}

QFuture<Result<void>> FakeEngineClient::stopComputer(const SessionId &id, const QString &who)
{
    calls.append(QStringLiteral("stopComputer %1 by %2").arg(id.value, who));
    return answer<void>(QStringLiteral("stopComputer"), [&] { return setComputerState(id, ComputerState::Stopped); });
}

QFuture<Result<QList<Leftover>>> FakeEngineClient::leftovers()
{
    calls.append(QStringLiteral("leftovers"));
    return answer<QList<Leftover>>(QStringLiteral("leftovers"), [this]() -> Result<QList<Leftover>> { return leftoverRows; });
}

QFuture<Result<void>> FakeEngineClient::removeLeftover(const Leftover &leftover, const QString &who)
{
    calls.append(QStringLiteral("removeLeftover %1 by %2").arg(leftover.id, who));
    return answer<void>(QStringLiteral("removeLeftover"), [&]() -> Result<void> {
        const Leftover *row = rowById(leftoverRows, leftover.id);
        if (!row)
            return absent<void>(leftover.id);
        if (row->inUse)
            return fail(ErrorCode::Conflict, QStringLiteral("%1 belongs to a session that exists.").arg(leftover.name));
        leftoverRows.removeIf([&](const Leftover &other) { return other.id == leftover.id; });
        return {};
    });
}

QFuture<Result<QList<AgentImage>>> FakeEngineClient::images()
{
    calls.append(QStringLiteral("images"));
    return answer<QList<AgentImage>>(QStringLiteral("images"), [this]() -> Result<QList<AgentImage>> { return imageRows; });
}

QFuture<Result<void>> FakeEngineClient::buildImage(const ImageRequest &request, const QString &who)
{
    calls.append(QStringLiteral("buildImage %1 by %2").arg(request.tag, who));
    return answer<void>(QStringLiteral("buildImage"), [&]() -> Result<void> {
        if (m_isBuilding)
            return fail(ErrorCode::Conflict, QStringLiteral("Another image is being built. Wait for it or cancel it."));
        builds.append(request);
        m_isBuilding = true;
        return {};
    });
}

void FakeEngineClient::cancelImageBuild()
{
    calls.append(QStringLiteral("cancelImageBuild"));
    m_isBuilding = false;
    FeedBatch batch;
    batch.imageProgress = {ImageProgress{{}, {}, true, true, QStringLiteral("The build was cancelled; nothing was kept.")}};
    feedLater(batch);
}

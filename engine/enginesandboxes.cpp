// The engine's commands about computers; the work is SandboxDesk's.
#include "engine/engine.h"
#include "engine/engineparts.h"

namespace engine {

template <class T> void Engine::later(QCoro::Task<Result<T>> work, const Answer<T> &answer)
{
    QCoro::connect(std::move(work), this, [answer](const Result<T> &result) { answer(result); });
}

void Engine::sandboxEngine(const Answer<SandboxEngine> &answer)
{
    if (isUp(answer))
        later(m_parts->sandboxes.engineState(), answer);
}

void Engine::computers(bool usage, const Answer<QList<Computer>> &answer)
{
    if (isUp(answer))
        later(m_parts->sandboxes.computers(usage), answer);
}

void Engine::checklist(const SessionId &id, const Answer<QList<Protection>> &answer)
{
    if (isUp(answer))
        later(m_parts->sandboxes.checklist(id), answer);
}

void Engine::pauseComputer(const SessionId &id, const QString &who, const Answer<void> &answer)
{
    if (!isUp(answer))
        return;
    audit(who, QStringLiteral("computer.pause"), id.value);
    later(m_parts->sandboxes.pause(id), answer);
}

void Engine::resumeComputer(const SessionId &id, const QString &who, const Answer<void> &answer)
{
    if (!isUp(answer))
        return;
    audit(who, QStringLiteral("computer.resume"), id.value);
    later(m_parts->sandboxes.resume(id), answer);
}

void Engine::stopComputer(const SessionId &id, const QString &who, const Answer<void> &answer)
{
    if (!isUp(answer))
        return;
    audit(who, QStringLiteral("computer.stop"), id.value);
    later(m_parts->sandboxes.stop(id), answer);
}

void Engine::leftovers(const Answer<QList<Leftover>> &answer)
{
    if (isUp(answer))
        later(m_parts->sandboxes.leftovers(), answer);
}

void Engine::removeLeftover(const Leftover &leftover, const QString &who, const Answer<void> &answer)
{
    if (!isUp(answer))
        return;
    audit(who, QStringLiteral("leftover.remove"), leftover.name);
    later(m_parts->sandboxes.remove(leftover), answer);
}

void Engine::images(const Answer<QList<AgentImage>> &answer)
{
    if (isUp(answer))
        later(m_parts->sandboxes.images(), answer);
}

void Engine::buildImage(const ImageRequest &request, const QString &who, const Answer<void> &answer)
{
    if (!isUp(answer))
        return;
    audit(who, QStringLiteral("image.build"), request.tag);
    later(m_parts->sandboxes.build(request), answer);
}

void Engine::cancelImageBuild()
{
    if (m_parts)
        m_parts->sandboxes.cancelBuild();
}

} // namespace engine

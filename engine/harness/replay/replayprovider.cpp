#include "engine/harness/replay/replayprovider.h"

#include "engine/harness/replay/replaychannel.h"

namespace engine {
namespace {

QString computerId(const QString &sessionId, int generation)
{
    return QStringLiteral("replay-%1-%2").arg(sessionId).arg(generation);
}

sandbox::Error notSupported()
{
    return {sandbox::Failure::NotSupported, QStringLiteral("A recording can't be paused."), {}};
}

} // namespace

QCoro::Task<sandbox::Result<sandbox::Computer>> ReplayProvider::ensure(sandbox::ComputerSpec spec)
{
    const QString id = computerId(spec.sessionId, spec.generation);
    sandbox::Computer computer;
    computer.id = id;
    computer.sessionId = spec.sessionId;
    computer.generation = spec.generation;
    computer.state = sandbox::ComputerState::Running;
    computer.labels = spec.labels;
    m_computers.insert(id, computer);
    co_return computer;
}

QCoro::Task<sandbox::Result<std::optional<sandbox::Computer>>> ReplayProvider::find(QString sessionId, int generation)
{
    const auto found = m_computers.constFind(computerId(sessionId, generation));
    if (found == m_computers.constEnd())
        co_return std::optional<sandbox::Computer>();
    co_return std::optional<sandbox::Computer>(*found);
}

QCoro::Task<sandbox::Result<QList<sandbox::Computer>>> ReplayProvider::list()
{
    co_return m_computers.values();
}

QCoro::Task<sandbox::Result<std::unique_ptr<sandbox::Channel>>>
ReplayProvider::open(sandbox::Computer computer, quint64, sandbox::Offsets)
{
    const auto found = m_computers.constFind(computer.id);
    if (found == m_computers.constEnd())
        co_return tl::unexpected<sandbox::Error>(
            sandbox::Error{sandbox::Failure::Absent, QStringLiteral("The recording is not being played."), {}});
    bool isNumber = false;
    const double speed = found->labels.value(QStringLiteral("speed")).toDouble(&isNumber);
    std::unique_ptr<sandbox::Channel> channel = std::make_unique<ReplayChannel>(
        found->labels.value(QStringLiteral("recording")), isNumber ? speed : 1.0, found->generation);
    co_return channel;
}

QCoro::Task<sandbox::Result<void>> ReplayProvider::pause(sandbox::Computer)
{
    co_return tl::unexpected<sandbox::Error>(notSupported());
}

QCoro::Task<sandbox::Result<void>> ReplayProvider::resume(sandbox::Computer)
{
    co_return tl::unexpected<sandbox::Error>(notSupported());
}

QCoro::Task<sandbox::Result<void>> ReplayProvider::destroy(sandbox::Computer computer)
{
    m_computers.remove(computer.id);
    co_return sandbox::Result<void>{};
}

} // namespace engine

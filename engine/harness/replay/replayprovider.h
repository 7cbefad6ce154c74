#pragma once

#include "sandbox/sandbox.h"

namespace engine {

// A provider whose computers play recordings: label "recording" is the path, "speed" the factor. They live in this
// process; after a restart none is found.
class ReplayProvider final : public sandbox::Provider
{
public:
    QString name() const override { return QStringLiteral("replay"); }
    sandbox::Capabilities capabilities() const override { return {}; }
    QCoro::Task<sandbox::Result<sandbox::Computer>> ensure(sandbox::ComputerSpec spec) override;
    QCoro::Task<sandbox::Result<std::optional<sandbox::Computer>>> find(QString sessionId, int generation) override;
    QCoro::Task<sandbox::Result<QList<sandbox::Computer>>> list() override;
    QCoro::Task<sandbox::Result<std::unique_ptr<sandbox::Channel>>> open(sandbox::Computer computer, quint64 epoch,
                                                                         sandbox::Offsets received) override;
    QCoro::Task<sandbox::Result<void>> pause(sandbox::Computer computer) override;
    QCoro::Task<sandbox::Result<void>> resume(sandbox::Computer computer) override;
    QCoro::Task<sandbox::Result<void>> destroy(sandbox::Computer computer) override;

private:
    QMap<QString, sandbox::Computer> m_computers; // by id
};

} // namespace engine

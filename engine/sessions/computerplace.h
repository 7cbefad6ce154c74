#pragma once

#include "engine/sessions/nativeplace.h"
#include "sandbox/sandbox.h"

namespace engine {

// In a computer of its own: program and versions are those of its image, files are fetched from it.
class ComputerPlace final : public NativePlace
{
public:
    // `hostWorkspace`: the folder of this host that a new computer is given a copy of.
    ComputerPlace(sandbox::Provider &provider, const sandbox::Computer &computer, const Agent &agent,
                  const QString &hostWorkspace, const QString &scratchFolder);

    QString configFolder() const override;
    QString workspace() const override;
    QCoro::Task<Result<HarnessProgram>> program() override;
    QCoro::Task<Result<void>> prepare(bool isNew) override;
    QCoro::Task<Result<bool>> holds(NativeIdentity native) override;
    QCoro::Task<Result<QString>> verify(NativeIdentity native) override;
    QCoro::Task<Result<NativeIdentity>> snapshot(NativeIdentity native) override;

private:
    QString transcriptOf(const NativeIdentity &native) const;
    QCoro::Task<Result<std::optional<QByteArray>>> fetch(NativeIdentity native);

    sandbox::Provider &m_provider;
    sandbox::Computer m_computer;
    Agent m_agent;
    QString m_hostWorkspace;
    QString m_scratchFolder;
};

} // namespace engine

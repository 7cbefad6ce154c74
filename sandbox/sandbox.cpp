#include "sandbox/sandbox.h"

namespace sandbox {

QCoro::Task<Result<void>> Provider::forget(QString)
{
    co_return Result<void>{};
}

QCoro::Task<Result<std::optional<QByteArray>>> Provider::readFile(Computer computer, QString)
{
    co_return tl::unexpected<Error>(
        Error{Failure::NotSupported, QStringLiteral("Files of %1 cannot be read by its provider.").arg(computer.id), {}});
}

QCoro::Task<Result<void>> Provider::unpack(Computer computer, QString, QIODevice *)
{
    co_return tl::unexpected<Error>(
        Error{Failure::NotSupported, QStringLiteral("Files cannot be put into %1 by its provider.").arg(computer.id), {}});
}

QCoro::Task<Result<QList<HardeningItem>>> Provider::checklist(Computer)
{
    co_return QList<HardeningItem>{};
}

} // namespace sandbox

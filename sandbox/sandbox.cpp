#include "sandbox/sandbox.h"

namespace sandbox {

QCoro::Task<Result<void>> Provider::forget(QString)
{
    co_return Result<void>{};
}

QCoro::Task<Result<QList<HardeningItem>>> Provider::checklist(Computer)
{
    co_return QList<HardeningItem>{};
}

} // namespace sandbox

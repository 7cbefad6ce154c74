#pragma once

#include "engine/types/error.h"

#include <QByteArray>
#include <QCoroTask>

namespace engine {

// Where a model key comes from. Engine thread. A key is never part of an error.
class CredentialSource
{
public:
    // An environment variable of this process, only where the agent names one.
    static Result<QByteArray> fromEnvironment(const QString &variable);
    // The secret store of the desktop (Secret Service); never a plain file in its place.
    static QCoro::Task<Result<QByteArray>> read(QString name);
    static QCoro::Task<Result<void>> write(QString name, QByteArray key);
    static QCoro::Task<Result<void>> remove(QString name);
    // "env:NAME" for a variable, any other text for an entry of the secret store.
    static QCoro::Task<Result<QByteArray>> resolve(QString reference);
};

} // namespace engine

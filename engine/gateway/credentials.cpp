#include "engine/gateway/credentials.h"

#include <QCoroSignal>
#include <memory>
#include <qt6keychain/keychain.h>

namespace engine {

namespace {

const QString &keychainService()
{
    static const QString name = QStringLiteral("signalbox");
    return name;
}

Error keychainError(const QKeychain::Job &job, const QString &verb, const QString &name)
{
    switch (job.error()) {
    case QKeychain::EntryNotFound:
        return {ErrorCode::CredentialMissing,
                QStringLiteral("The secret store holds no key named \"%1\". Add it in the settings under Model keys, "
                               "or let the agent use an environment variable.")
                    .arg(name),
                {}};
    case QKeychain::AccessDenied:
    case QKeychain::AccessDeniedByUser:
        return {ErrorCode::CredentialMissing,
                QStringLiteral("The key \"%1\" could not be %2: the secret store is locked or refused it. Unlock it "
                               "and try again.")
                    .arg(name, verb),
                job.errorString()};
    default:
        break;
    }
    return {ErrorCode::CredentialMissing,
            QStringLiteral("The key \"%1\" could not be %2: no secret store answers in this session (%3). Start one "
                           "(GNOME Keyring, KWallet or KeePassXC), or let the agent use an environment variable.")
                .arg(name, verb, job.errorString()),
            job.errorString()};
}

template <class Job> std::unique_ptr<Job> keychainJob(const QString &name)
{
    auto job = std::make_unique<Job>(keychainService());
    job->setAutoDelete(false);
    job->setInsecureFallback(false);
    job->setKey(name);
    return job;
}

} // namespace

Result<QByteArray> CredentialSource::fromEnvironment(const QString &variable)
{
    const QByteArray key = qgetenv(variable.toLocal8Bit().constData()).trimmed();
    if (key.isEmpty())
        return fail(ErrorCode::CredentialMissing,
                    QStringLiteral("The environment variable %1, which should hold the model's key, is not set. Set "
                                   "it before starting Signalbox, or use the secret store.")
                        .arg(variable));
    return key;
}

QCoro::Task<Result<QByteArray>> CredentialSource::read(QString name)
{
    const auto job = keychainJob<QKeychain::ReadPasswordJob>(name);
    job->start();
    co_await qCoro(job.get(), &QKeychain::Job::finished);
    if (job->error() != QKeychain::NoError)
        co_return tl::unexpected<Error>(keychainError(*job, QStringLiteral("read"), name));
    co_return job->binaryData();
}

QCoro::Task<Result<void>> CredentialSource::write(QString name, QByteArray key)
{
    const auto job = keychainJob<QKeychain::WritePasswordJob>(name);
    job->setBinaryData(key);
    job->start();
    co_await qCoro(job.get(), &QKeychain::Job::finished);
    if (job->error() != QKeychain::NoError)
        co_return tl::unexpected<Error>(keychainError(*job, QStringLiteral("stored"), name));
    co_return Result<void>();
}

QCoro::Task<Result<void>> CredentialSource::remove(QString name)
{
    const auto job = keychainJob<QKeychain::DeletePasswordJob>(name);
    job->start();
    co_await qCoro(job.get(), &QKeychain::Job::finished);
    if (job->error() != QKeychain::NoError && job->error() != QKeychain::EntryNotFound)
        co_return tl::unexpected<Error>(keychainError(*job, QStringLiteral("removed"), name));
    co_return Result<void>();
}

QCoro::Task<Result<QByteArray>> CredentialSource::resolve(QString reference)
{
    if (reference.startsWith(QLatin1String("env:")))
        co_return fromEnvironment(reference.mid(4));
    auto reading = read(reference);
    Result<QByteArray> key = co_await reading;
    co_return key;
}

} // namespace engine

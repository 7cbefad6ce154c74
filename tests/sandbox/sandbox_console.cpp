#include "sandbox/host/hostprovider.h"

#include <QCoreApplication>
#include <QFile>
#include <QTextStream>
#include <memory>

// usage: sandbox_console WORKER RUNTIME STATE STORE COUNT. Starts a worker, launches `seq 1 COUNT`, appends what it
// streams to STORE and acknowledges it, until it is killed.

using namespace sandbox;

static QCoro::Task<> console(HostProvider *provider, QFile *store, QString count, std::unique_ptr<Channel> *kept)
{
    ComputerSpec spec;
    spec.sessionId = QStringLiteral("survivor");
    const auto computer = co_await provider->ensure(spec);
    auto opened = co_await provider->open(computer.value(), 1, {});
    *kept = std::move(opened.value());
    Channel *channel = kept->get();
    QObject::connect(channel, &Channel::received, channel, [=](Stream stream, quint64, const QByteArray &bytes) {
        if (stream == Stream::Output && store->write(bytes) == bytes.size() && store->flush())
            channel->acknowledge({quint64(store->size()), 0});
    });
    LaunchSpec launch;
    launch.argv = {QStringLiteral("/bin/sh"), QStringLiteral("-c"), QStringLiteral("seq 1 %1; exec cat").arg(count)};
    launch.environment.insert(QStringLiteral("PATH"), QStringLiteral("/usr/bin:/bin"));
    channel->launch(launch);
}

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    const QStringList arguments = application.arguments();
    QFile store(arguments.value(4));
    if (arguments.size() != 6 || !store.open(QIODevice::WriteOnly | QIODevice::Append))
        return 2;
    HostProvider provider(arguments[1], arguments[2], arguments[3]);
    std::unique_ptr<Channel> channel;
    console(&provider, &store, arguments[5], &channel);
    return application.exec();
}

#include "app/doors/instance.h"

#include <QCoreApplication>

namespace app {

namespace {

engine::EngineOptions optionsFor(const Folders &folders, bool demo)
{
    engine::EngineOptions options;
    options.dataFolder = folders.data;
    options.runtimeFolder = folders.runtime;
    options.workerProgram = QCoreApplication::applicationDirPath() + u"/signalbox-worker";
    options.demo = demo;
    return options;
}

} // namespace

Instance::Instance(const Folders &folders, bool demo, const QString &kind)
    : m_folders(folders), m_kind(kind), m_engine(optionsFor(folders, demo)), m_server(m_engine, kind)
{
    m_patience.setSingleShot(true);
    m_patience.setInterval(std::chrono::seconds(10));
    connect(&m_patience, &QTimer::timeout, this, [this] {
        emit warned(
            QStringLiteral("The engine did not close in time; what is not stored is found again at the next start."));
        emit stopped();
    });
    connect(&m_engine, &engine::EngineClient::started, this, &Instance::openDoor);
    connect(&m_engine, &engine::EngineClient::failed, this, &Instance::failed);
    connect(&m_engine, &engine::LocalEngineClient::stopped, this, [this] {
        m_patience.stop();
        emit stopped();
    });
    connect(&m_server, &ControlServer::raiseRequested, this, &Instance::raiseRequested);
}

void Instance::start()
{
    m_engine.start();
}

void Instance::openDoor()
{
    if (m_kind != u"command") {
        if (const auto opened = m_server.listen(m_folders.controlSocket); !opened)
            emit warned(opened.error().message + u' ' + opened.error().detail);
    }
    emit started();
}

void Instance::shutdown()
{
    if (m_stopping)
        return;
    m_stopping = true;
    m_patience.start();
    m_engine.shutdown();
}

} // namespace app

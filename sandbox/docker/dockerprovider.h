#pragma once

#include "sandbox/docker/dockerclient.h"
#include "sandbox/docker/dockerevents.h"
#include "sandbox/docker/policy.h"
#include "sandbox/sandbox.h"

#include <QHash>
#include <QProcessEnvironment>
#include <chrono>
#include <functional>
#include <memory>
#include <unordered_map>

namespace sandbox {

struct DockerOptions
{
    QString socket;                  // empty: searched, see findDockerSocket
    QProcessEnvironment environment; // DOCKER_HOST and others
    QString workerProgram;           // the static signalbox-worker of this installation
    QString installId;               // owner of everything made here; other installations' things are foreign
    QString defaultImage = QStringLiteral("signalbox-agent:latest");
    int gatewayPort = 8787;   // inside each container; 0: none
    quint64 journalBytes = 0; // 0: the worker's default
    std::chrono::milliseconds answerLimit{15000};
};

// An image as the engine has it. Versions come from the labels that resources/agentimage/Dockerfile sets.
struct DockerImage
{
    QString id;
    QStringList tags;
    QString claudeVersion;
    QString codexVersion;
    bool hasLayout = false; // its folders for the session's volume are prepared
    qint64 bytes = 0;
    QDateTime createdAt;
};

// Anything that carries our labels.
struct Leftover
{
    enum class Kind { Container, Volume };
    Kind kind = Kind::Container;
    QString id; // of a volume: its name
    QString name;
    QString sessionId;
    int generation = 0;
    QString state;    // of a container, in the engine's word
    QDateTime madeAt; // UTC
    qint64 bytes = -1; // -1: not known
};

// What a container uses now.
struct ComputerUsage
{
    double cpuPercent = 0; // 100: one processor
    qint64 memoryBytes = 0;
    qint64 memoryLimit = 0;
    int processes = 0;
};

// Computers as hardened containers of a Docker Engine (or Podman), over its Unix socket. Engine thread.
// Names and labels: a container `signalbox-<session>-<generation>`, a volume `signalbox-<session>`, a read-only volume
// `signalbox-worker-<digest>` with the worker program.
class DockerProvider final : public Provider
{
public:
    explicit DockerProvider(DockerOptions options);
    ~DockerProvider() override;

    QString name() const override { return QStringLiteral("docker"); }
    Capabilities capabilities() const override;
    QCoro::Task<Result<Computer>> ensure(ComputerSpec spec) override;
    QCoro::Task<Result<std::optional<Computer>>> find(QString sessionId, int generation) override;
    QCoro::Task<Result<QList<Computer>>> list() override;
    QCoro::Task<Result<std::unique_ptr<Channel>>> open(Computer computer, quint64 epoch, Offsets received) override;
    QCoro::Task<Result<void>> pause(Computer computer) override;
    QCoro::Task<Result<void>> resume(Computer computer) override;
    QCoro::Task<Result<void>> destroy(Computer computer) override;
    QCoro::Task<Result<void>> forget(QString sessionId) override;
    QCoro::Task<Result<std::optional<QByteArray>>> readFile(Computer computer, QString path) override;
    QCoro::Task<Result<void>> unpack(Computer computer, QString folder, QIODevice *tar) override;
    QCoro::Task<Result<QList<HardeningItem>>> checklist(Computer computer) override;

    // The engine that answers, negotiated; an error says why none does.
    QCoro::Task<Result<DockerEngine>> engine();
    QCoro::Task<Result<DockerImage>> image(QString name);
    // Those that were built for Signalbox.
    QCoro::Task<Result<QList<DockerImage>>> preparedImages();
    QString defaultImage() const { return m_options.defaultImage; }
    // The volume that holds this installation's worker program.
    bool isWorkerVolume(const QString &name) const { return !name.isEmpty() && name == m_workerVolume; }
    QCoro::Task<Result<ComputerUsage>> usage(Computer computer);
    QCoro::Task<Result<QList<Leftover>>> leftovers();
    QCoro::Task<Result<void>> remove(Leftover leftover);
    // Called after a container of ours was started, paused, ended ... and after the engine was lost or came back.
    void setListener(std::function<void()> listener);
    DockerClient *client() const { return m_client.get(); }

private:
    struct Inspected;

    QCoro::Task<Result<DockerReply>> ask(QByteArray method, QString path, QUrlQuery query = {}, QByteArray body = {});
    QCoro::Task<Result<std::optional<Inspected>>> inspect(QString nameOrId);
    static Error asUnavailable(Error error);
    QCoro::Task<Result<std::unique_ptr<ByteLink>>> openRelay(Computer computer);
    QCoro::Task<Result<void>> fenceOlder(QString sessionId, int generation);
    QCoro::Task<Result<void>> prepareWorkerVolume();
    QCoro::Task<Result<bool>> fillWorkerVolume();
    QCoro::Task<Result<void>> ensureSessionVolume(QString sessionId);
    QCoro::Task<Result<void>> layFolders(QString containerId);
    QCoro::Task<Result<Computer>> create(ContainerPlan plan);
    QCoro::Task<Result<void>> start(QString containerId, ContainerPlan plan);
    QCoro::Task<Result<Computer>> revive(Inspected found, ContainerPlan plan);
    QCoro::Task<Result<void>> removeContainer(QString id);
    QCoro::Task<Result<QByteArray>> describeInside(QString containerId);
    ContainerPlan planOf(const ComputerSpec &spec) const;
    void follow();

    DockerOptions m_options;
    std::unique_ptr<DockerClient> m_client;
    std::unique_ptr<DockerEvents> m_events;
    std::optional<DockerEngine> m_engine;
    std::function<void()> m_listener;
    QString m_workerDigest;
    QString m_workerVolume;
    bool m_workerReady = false;
    // Streams that were attached before their container was started, by container id: the quick first channel.
    std::unordered_map<QString, std::unique_ptr<ByteLink>> m_fresh;
};

} // namespace sandbox

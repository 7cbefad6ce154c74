#pragma once

#include "sandbox/docker/dockerclient.h"
#include "sandbox/docker/jsonlines.h"

#include <QTimer>

namespace sandbox {

struct DockerEvent
{
    QString type;   // "container", "volume"
    QString action; // "start", "die", "oom", "pause", ... without what Docker appends after a colon
    QString id;
    QMap<QString, QString> attributes; // labels, "name", "exitCode"
    qint64 timeNano = 0;
};

// What happens in the engine to things with one label. Engine thread. A lost connection is opened again by itself; what
// happened meanwhile is not known then, so listening() means: look at everything anew.
class DockerEvents final : public QObject
{
    Q_OBJECT

public:
    explicit DockerEvents(DockerClient &client);
    ~DockerEvents() override;

    void start(const QString &label);
    void stop();

signals:
    void listening();
    void happened(const sandbox::DockerEvent &event);
    void lost(const sandbox::Error &error);

private:
    QCoro::Task<> follow();
    void takeLine(const QByteArray &line);

    DockerClient &m_client;
    QString m_label;
    QTimer m_retry;
    int m_retryMs = 0;
    JsonLines m_lines;
    std::shared_ptr<DockerCancel> m_cancel;
};

} // namespace sandbox

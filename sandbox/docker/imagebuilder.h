#pragma once

#include "sandbox/docker/dockerclient.h"
#include "sandbox/sandbox.h"

#include <QFuture>
#include <QList>
#include <functional>

namespace sandbox {

// A program that goes into the image, with what belongs to it.
struct ImageProgram
{
    QString name;    // as it is called inside: /usr/local/bin/<name>
    QString source;  // the program's file on this machine
    QString version; // becomes a label of the image
};

// What an agent image is made from.
struct ImageRecipe
{
    QString tag = QStringLiteral("signalbox-agent:latest");
    QString base = QStringLiteral("debian:bookworm-slim"); // an image; fetched by the engine when it is not there
    QString baseArchive; // instead: a tar of a whole system, imported as `base`; no registry is needed then
    QList<ImageProgram> programs;
    bool network = true; // the base lacks git and ripgrep, so the build fetches them
};

struct ImageProgress
{
    QString step;   // what is happening now, one line
    QString output; // what the build printed, may be several lines
};

// Builds the agent image through the engine's API. Engine thread. One build at a time per builder.
class ImageBuilder final
{
public:
    using OnProgress = std::function<void(const ImageProgress &)>;

    ImageBuilder(DockerClient &client, QString scratchFolder);
    // The image's id. Failures name the step and hold the build's last lines as detail.
    QCoro::Task<Result<QString>> build(ImageRecipe recipe, OnProgress progress);
    void cancel();

private:
    QCoro::Task<Result<void>> importBase(ImageRecipe recipe, OnProgress progress);
    Result<void> writeContext(const ImageRecipe &recipe, QIODevice &to) const;

    DockerClient &m_client;
    QString m_scratchFolder;
    std::shared_ptr<DockerCancel> m_cancel;
};

} // namespace sandbox

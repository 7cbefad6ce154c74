#include "app/doors/sandboxcommand.h"

#include "app/doors/jsontext.h"
#include "app/doors/visibletext.h"

#include <QDir>

namespace app {

using namespace engine;

namespace {

QString stateWord(ComputerState state)
{
    switch (state) {
    case ComputerState::Running:
        return QStringLiteral("running");
    case ComputerState::Paused:
        return QStringLiteral("paused");
    case ComputerState::Stopped:
        break;
    }
    return QStringLiteral("stopped");
}

QString kindWord(Leftover::Kind kind)
{
    switch (kind) {
    case Leftover::Kind::Container:
        return QStringLiteral("container");
    case Leftover::Kind::Volume:
        return QStringLiteral("volume");
    case Leftover::Kind::Worker:
        break;
    }
    return QStringLiteral("worker");
}

} // namespace

void SandboxCommand::start()
{
    switch (m_arguments.action) {
    case Action::ListLeftovers:
        listLeftovers();
        return;
    case Action::RemoveLeftovers:
        tidy();
        return;
    case Action::ListImages:
        listImages();
        return;
    case Action::BuildImage:
        build();
        return;
    default:
        listComputers();
    }
}

void SandboxCommand::listComputers()
{
    then(m_engine.sandboxEngine(), [this](const SandboxEngine &state) {
        if (!m_arguments.json)
            m_console.err(QString(state.available ? QString(state.name + u" at " + state.socket) : visibleText(state.problem)) + u'\n');
        then(m_engine.computers(false), [this](const QList<Computer> &computers) {
            if (m_arguments.json)
                printLine(jsonText(computers));
            for (const Computer &one : m_arguments.json ? QList<Computer>() : computers)
                printLine(visibleText(QStringLiteral("%1  %2  %3  %4  %5")
                                          .arg(one.sessionId.value, stateWord(one.state), one.provider, one.image, one.sessionTitle)));
            end(ExitCode::Ok);
        });
    });
}

void SandboxCommand::listLeftovers()
{
    then(m_engine.leftovers(), [this](const QList<Leftover> &leftovers) {
        if (m_arguments.json)
            printLine(jsonText(leftovers));
        for (const Leftover &one : m_arguments.json ? QList<Leftover>() : leftovers)
            printLine(visibleText(QStringLiteral("%1  %2  %3  %4")
                                      .arg(kindWord(one.kind), one.name, one.inUse ? QStringLiteral("in use") : QStringLiteral("left over"), one.state)));
        end(ExitCode::Ok);
    });
}

void SandboxCommand::tidy()
{
    then(m_engine.leftovers(), [this](const QList<Leftover> &leftovers) {
        QList<Leftover> free;
        // Volumes last: a container that is there keeps its own.
        for (const bool volumes : {false, true}) {
            for (const Leftover &one : leftovers) {
                if (!one.inUse && (one.kind == Leftover::Kind::Volume) == volumes)
                    free.append(one);
            }
        }
        removeNext(free, 0);
    });
}

void SandboxCommand::removeNext(QList<Leftover> left, int removed)
{
    if (left.isEmpty()) {
        printLine(QStringLiteral("%1 removed").arg(removed));
        end(ExitCode::Ok);
        return;
    }
    const Leftover one = left.takeFirst();
    then(m_engine.removeLeftover(one, m_request.who), [this, left, removed] { removeNext(left, removed + 1); });
}

void SandboxCommand::listImages()
{
    then(m_engine.images(), [this](const QList<AgentImage> &images) {
        if (m_arguments.json)
            printLine(jsonText(images));
        for (const AgentImage &one : m_arguments.json ? QList<AgentImage>() : images)
            printLine(visibleText(QStringLiteral("%1  Claude Code %2  %3 MB")
                                      .arg(one.tag, one.claudeVersion.isEmpty() ? QStringLiteral("-") : one.claudeVersion)
                                      .arg(one.bytes / 1000000)));
        if (images.isEmpty())
            m_console.err(QStringLiteral("No agent image yet. Make one with: signalbox sandboxes build-image\n"));
        end(ExitCode::Ok);
    });
}

void SandboxCommand::build()
{
    ImageRequest request;
    if (!m_arguments.tag.isEmpty())
        request.tag = m_arguments.tag;
    if (!m_arguments.base.isEmpty())
        request.base = m_arguments.base;
    if (!m_arguments.baseArchive.isEmpty()) {
        request.baseArchive = QDir::cleanPath(QDir(m_request.workingFolder).absoluteFilePath(m_arguments.baseArchive));
        if (m_arguments.base.isEmpty())
            request.base = QStringLiteral("signalbox-base:latest");
    }
    connect(&m_engine, &EngineClient::fed, this, &SandboxCommand::take);
    then(m_engine.buildImage(request, m_request.who), [] {}); // its end comes with the feed
}

void SandboxCommand::take(const FeedBatch &batch)
{
    for (const ImageProgress &progress : batch.imageProgress) {
        if (!progress.finished) {
            m_console.err(visibleText(progress.output));
            continue;
        }
        if (m_arguments.json)
            printLine(jsonText(progress));
        else if (progress.failed)
            m_console.err(u"signalbox: " + visibleText(progress.message) + u'\n' + visibleText(progress.output) + u'\n');
        else
            printLine(progress.message);
        end(progress.failed ? ExitCode::Failed : ExitCode::Ok);
    }
}

} // namespace app

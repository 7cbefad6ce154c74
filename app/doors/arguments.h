#pragma once

#include "engine/types/approval.h"

#include <QStringList>
#include <tl/expected.hpp>

namespace app {

enum class Action {
    Window,
    Tour,
    Headless,
    Raise, // between instances only
    Help,
    Version,
    Run,
    ListSessions,
    ShowSession,
    ListApprovals,
    ShowApproval,
    ResolveApproval,
    ContinueRun,
    ExtendApproval,
    ListAgents,
    ListComputers,
    ListLeftovers,
    RemoveLeftovers,
    ListImages,
    BuildImage,
    Doctor
};

// A command line that was understood.
struct Arguments
{
    Action action = Action::Window;
    bool demo = false;
    bool json = false;
    QString dataFolder; // empty: the default
    QString tourFolder;
    QString id; // of the session, approval or run named
    QString agent;
    QString workspace;
    QString title;
    QString key;
    QString base;        // of an image: what it is built on
    QString baseArchive; // of an image: a tar of a whole system
    QString tag;         // of an image
    QString prompt; // "-": from the input
    bool wait = true;
    bool follow = false;
    bool all = false; // also decided approvals
    engine::Verdict verdict = engine::Verdict::Deny;
    QString note;
    QString digest;
    QString inputFile; // "-": standard input
    bool continueAfter = false;
    int seconds = 0;

    bool needsInput() const { return prompt == u"-" || !inputFile.isEmpty(); }
    bool operator==(const Arguments &) const = default;
};

// `words` without the program's name. The error is one sentence for a person.
tl::expected<Arguments, QString> parseArguments(const QStringList &words);
QString helpText();

} // namespace app

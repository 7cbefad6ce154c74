#include "engine/demo.h"

#include "engine/feed.h"

#include <QDir>
#include <QUuid>
#include <array>
#include <nlohmann/json.hpp>

namespace engine {
namespace {

struct DemoSession
{
    const char *agentId;
    const char *agentName;
    const char *recording;
    const char *title;
    const char *prompts[3]; // null: none
};

constexpr std::array<DemoSession, 4> demoSessions{{
    {"a-demo-migration", "Demo: careful", ":/demo/approve-migration.jsonl", "Add the billing migration",
     {"Add the invoices table migration, run it against the development database and update the model.",
      "Then write the rollback and try it once.", nullptr}},
    {"a-demo-release", "Demo: release", ":/demo/tidy-release.jsonl", "Prepare the 2.4 release notes",
     {"Go through the commits since 2.3, group them and draft the release notes. Run the tests before.", nullptr, nullptr}},
    {"a-demo-question", "Demo: asks back", ":/demo/question.jsonl", "Choose a cache for the search page",
     {"The search page is slow. Find out where the time goes and put a cache in the right place.", nullptr, nullptr}},
    {"a-demo-trouble", "Demo: trouble", ":/demo/trouble.jsonl", "Update the flaky importer",
     {"Find out why the nightly importer fails every third run and fix it.", nullptr, nullptr}},
}};

Agent demoAgent(const DemoSession &demo, const QDateTime &now)
{
    Agent agent;
    agent.id = {QString::fromLatin1(demo.agentId)};
    agent.name = QString::fromLatin1(demo.agentName);
    agent.harness = HarnessKind::Replay;
    agent.recording = QString::fromLatin1(demo.recording);
    agent.keyVariable.clear();
    agent.approvalTimeoutSeconds = 3600;
    agent.createdAt = now;
    agent.updatedAt = now;
    return agent;
}

} // namespace

Result<void> installAgents(Stores &stores, const Clock &clock, const EngineOptions &options)
{
    const Result<QList<Agent>> present = stores.agents.list(true);
    if (!present)
        return tl::unexpected<Error>(present.error());
    const QDateTime now = clock.now();
    const auto isPresent = [&](const QString &id) {
        return std::any_of(present->begin(), present->end(), [&](const Agent &agent) { return agent.id.value == id; });
    };
    if (options.demo) {
        for (const DemoSession &demo : demoSessions) {
            if (isPresent(QString::fromLatin1(demo.agentId)))
                continue;
            if (const Result<void> stored = stores.agents.insertOrUpdate(demoAgent(demo, now)); !stored)
                return stored;
        }
    }
    if (!present->isEmpty())
        return {};
    Agent claude;
    claude.id = newAgentId();
    claude.name = QStringLiteral("Claude Code");
    claude.createdAt = now;
    claude.updatedAt = now;
    return stores.agents.insertOrUpdate(claude);
}

void startDemo(Stores &stores, const Clock &clock, Feed &feed)
{
    const Result<QList<Session>> present = stores.sessions.list({});
    if (!present || !present->isEmpty())
        return;
    const QString workspace = QDir::homePath();
    for (const DemoSession &demo : demoSessions) {
        const QDateTime now = clock.now();
        const Agent agent = demoAgent(demo, now);
        Session session;
        session.id = newSessionId();
        session.agentId = agent.id;
        session.agentName = agent.name;
        session.title = QString::fromLatin1(demo.title);
        session.workspace = workspace;
        session.native.nativeSessionId = QUuid::createUuid().toString(QUuid::WithoutBraces);
        session.createdAt = now;
        session.updatedAt = now;
        Result<void> stored = stores.sessions.insert(session);
        for (const char *prompt : demo.prompts) {
            if (!prompt || !stored)
                break;
            const Result<Submitted> run = stores.runs.enqueue(
                {session.id, QString::fromLatin1(prompt), QStringLiteral("demo"), QStringLiteral("window"), {}}, {}, now);
            stored = run ? Result<void>{} : tl::unexpected<Error>(run.error());
        }
        if (!stored) {
            feed.noteNotice({Notice::Level::Error, QStringLiteral("The demo could not be set up."), stored.error().message, {}});
            return;
        }
        feed.noteSession(session.id);
    }
}

QByteArray describeSession(Stores &stores, const QString &nativeSessionId)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    const Result<QList<Session>> sessions = stores.sessions.list({});
    if (sessions) {
        for (const Session &session : *sessions) {
            if (session.native.nativeSessionId != nativeSessionId)
                continue;
            json["title"] = session.title.toStdString();
            json["agent"] = session.agentName.toStdString();
            json["workspace"] = session.workspace.toStdString();
            json["waiting_runs"] = session.queued;
        }
    }
    return QByteArray::fromStdString(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace engine

#include "engine/store/runrow.h"

#include <nlohmann/json.hpp>

namespace engine {
namespace {

QList<RunStep> stepsOf(const QString &text)
{
    QList<RunStep> steps;
    const nlohmann::json list = nlohmann::json::parse(text.toStdString(), nullptr, false);
    if (!list.is_array())
        return steps;
    for (const nlohmann::json &item : list) {
        if (!item.is_object())
            continue;
        const auto name = item.find("name");
        const auto at = item.find("at");
        if (name == item.end() || !name->is_string() || at == item.end() || !at->is_number_integer())
            continue;
        steps.append({QString::fromStdString(name->get<std::string>()),
                      QDateTime::fromMSecsSinceEpoch(at->get<qint64>(), Qt::UTC)});
    }
    return steps;
}

QString reasonToWait(const Row &row, const Run &run)
{
    const QString active = row.text("active_run_id");
    if (row.text("active_state") == toString(RunState::Paused))
        return QStringLiteral("waiting for approval of run %1").arg(active);
    if (!row.isNull("ahead"))
        return QStringLiteral("behind run %1").arg(row.text("ahead"));
    if (!active.isEmpty())
        return QStringLiteral("behind run %1").arg(active);
    if (run.startedAt.isValid() && run.availableAt > run.startedAt) {
        return QStringLiteral("retry at %1").arg(run.availableAt.toLocalTime().toString(QStringLiteral("HH:mm:ss")));
    }
    return QStringLiteral("next to start");
}

} // namespace

Run runOf(const Row &row)
{
    Run run;
    run.id = {row.text("id")};
    run.sessionId = {row.text("session_id")};
    run.agentId = {row.text("agent_id")};
    run.sequence = row.number("sequence");
    run.state = row.word("state", &runStateFromString, RunState::Error);
    run.attempt = row.integer("attempt");
    run.maxAttempts = row.integer("max_attempts");
    run.prompt = row.text("prompt");
    run.requestedBy = row.text("requested_by");
    run.origin = row.text("origin");
    run.idempotencyKey = row.text("idempotency_key");
    run.createdAt = row.time("created_at");
    run.availableAt = row.time("available_at");
    run.startedAt = row.time("started_at");
    run.endedAt = row.time("ended_at");
    run.errorCode = row.text("error_code");
    run.errorMessage = row.text("error_message");
    run.cancelRequested = row.flag("cancel_requested");
    run.leaseOwner = row.text("lease_owner");
    run.steps = stepsOf(row.text("steps"));
    run.usage = {row.number("input_tokens"), row.number("output_tokens"), row.number("cache_read_tokens"),
                 row.number("cache_write_tokens"), row.number("cost_micros")};
    run.continued = row.flag("continued");
    run.position = row.integer("position");
    if (run.state == RunState::Pending)
        run.waitingFor = reasonToWait(row, run);
    return run;
}

QString stepsText(const QList<RunStep> &steps)
{
    QStringList objects;
    for (const RunStep &step : steps) {
        const nlohmann::json object{{"name", step.name.toStdString()}, {"at", step.at.toMSecsSinceEpoch()}};
        objects += QString::fromStdString(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
    return objects.join(u',');
}

} // namespace engine

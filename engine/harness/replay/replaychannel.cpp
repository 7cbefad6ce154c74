#include "engine/harness/replay/replaychannel.h"

#include "engine/harness/rawjson.h"

#include <QUuid>
#include <nlohmann/json.hpp>

namespace engine {
namespace {

using PlayedJson = nlohmann::ordered_json;

QByteArray played(const PlayedJson &json)
{
    return QByteArray::fromStdString(json.dump(-1, ' ', false, PlayedJson::error_handler_t::replace));
}

QString memberText(const PlayedJson &json, const char *key)
{
    if (!json.is_object())
        return {};
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

PlayedJson memberObject(const PlayedJson &json, const char *key)
{
    if (!json.is_object())
        return {};
    const auto found = json.find(key);
    return found != json.end() ? *found : PlayedJson();
}

} // namespace

ReplayChannel::ReplayChannel(QString path, double speed, int generation) : m_path(std::move(path)), m_speed(speed)
{
    m_welcome.capabilities = {QStringLiteral("approvals")};
    m_welcome.generation = generation;
    m_timer.setSingleShot(true);
    m_timer.setTimerType(Qt::PreciseTimer);
    connect(&m_timer, &QTimer::timeout, this, [this] {
        if (m_at < m_entries.size()) {
            const replay::Entry entry = m_entries.at(m_at++);
            perform(entry);
        }
        play();
    });
}

// Signals come from the event loop, as they would from a socket.
void ReplayChannel::later(std::function<void()> action)
{
    QMetaObject::invokeMethod(this, std::move(action), Qt::QueuedConnection);
}

void ReplayChannel::launch(const sandbox::LaunchSpec &spec)
{
    if (m_alive) {
        later([this] { emit launchFailed(QStringLiteral("The recording is being played already.")); });
        return;
    }
    const auto recording = replay::loadRecording(m_path);
    if (!recording) {
        later([this, message = recording.error()] { emit launchFailed(message); });
        return;
    }
    m_recording = *recording;
    for (const QString &option : {QStringLiteral("--session-id"), QStringLiteral("--resume")}) {
        const qsizetype index = spec.argv.indexOf(option);
        if (index >= 0 && index + 1 < spec.argv.size())
            m_sessionId = spec.argv.at(index + 1).toUtf8();
    }
    m_names.clear();
    for (const QByteArray &id : std::as_const(m_recording.sessionIds))
        m_names.insert(id, m_sessionId);
    m_alive = true;
    m_inTurn = false;
    m_nextTurn = 0;
    m_waitingPrompts = 0;
    m_outputOffset = m_errorOffset = 0;
    m_initializeId.clear();
    m_applied.clear();
    m_asked.clear();
    m_answers.clear();
    m_welcome.launched = true;
    m_welcome.exited = false;
    ++m_welcome.launchCount;
    m_entries = m_recording.prologue;
    m_at = 0;
    m_clock = m_entries.isEmpty() ? 0 : m_entries.first().at;
    later([this] {
        emit launched(0);
        play();
    });
}

void ReplayChannel::send(const QString &id, const QByteArray &bytes)
{
    later([this, id, bytes] {
        if (!m_alive) {
            emit inputRefused(id, QStringLiteral("the recording is not being played"));
            return;
        }
        const bool known = m_applied.contains(id);
        m_applied.insert(id);
        m_welcome.lastInputId = id;
        emit inputWritten(id);
        if (!known)
            takeInput(bytes);
    });
}

void ReplayChannel::takeInput(const QByteArray &line)
{
    const PlayedJson json = PlayedJson::parse(line.begin(), line.end(), nullptr, false);
    const QString type = memberText(json, "type");
    if (type == u"user") {
        if (m_inTurn)
            ++m_waitingPrompts;
        else
            startTurn();
    } else if (type == u"control_request") {
        const PlayedJson request = memberObject(json, "request");
        const QString subtype = memberText(request, "subtype");
        takeRequest(memberText(json, "request_id"), subtype,
                    memberText(request, subtype == u"set_model" ? "model" : "mode"));
    } else if (type == u"control_response") {
        const PlayedJson response = memberObject(json, "response");
        const QString requestId = memberText(response, "request_id");
        m_answers.insert(requestId, memberText(memberObject(response, "response"), "behavior"));
        play();
    }
}

void ReplayChannel::takeRequest(const QString &requestId, const QString &subtype, const QString &value)
{
    if (subtype == u"initialize") {
        m_initializeId = requestId;
        const auto &prologue = m_recording.prologue;
        const bool recorded = std::any_of(prologue.begin(), prologue.end(), [](const replay::Entry &entry) {
            return entry.kind == replay::Entry::Kind::In && entry.subtype == u"initialize";
        });
        if (recorded)
            play();
        else
            answer(requestId, "{}");
    } else if (subtype == u"interrupt") {
        interrupt(requestId);
    } else if (subtype == u"end_session") {
        answer(requestId, {});
        later([this] { end(0); });
    } else if (subtype == u"set_model") {
        answer(requestId, played({{"model", value.toStdString()}}));
    } else if (subtype == u"set_permission_mode") {
        answer(requestId, played({{"mode", value.toStdString()}}));
    } else {
        answer(requestId, "{}");
    }
}

void ReplayChannel::startTurn()
{
    if (m_recording.turns.isEmpty()) {
        end(0);
        return;
    }
    // Fresh ids: the session has had the recorded ones when the recording is played again.
    const QByteArray mark = '-' + QUuid::createUuid().toRfc4122().left(4).toHex();
    for (const QByteArray &id : std::as_const(m_recording.ids))
        m_names.insert(id, id + mark);
    m_entries = m_recording.turns.at(m_nextTurn).entries;
    m_nextTurn = (m_nextTurn + 1) % m_recording.turns.size();
    m_at = 1; // the first one is the prompt
    m_clock = m_entries.first().at;
    m_inTurn = true;
    m_decision.clear();
    m_asked.clear();
    play();
}

// Goes on to the next entry that takes time or needs the host.
void ReplayChannel::play()
{
    while (m_alive && !m_timer.isActive()) {
        if (m_at >= m_entries.size()) {
            if (m_inTurn)
                finishTurn();
            return;
        }
        const replay::Entry &entry = m_entries.at(m_at);
        if (!entry.when.isEmpty() && entry.when != m_decision) {
            ++m_at;
        } else if (entry.kind == replay::Entry::Kind::In) {
            if (mustWait(entry))
                return;
            m_clock = entry.at;
            ++m_at;
        } else {
            const double pause = std::max(0.0, entry.at - m_clock);
            m_clock = std::max(m_clock, entry.at);
            m_timer.start(m_speed > 0 ? int(std::min(pause / m_speed, 3600.0) * 1000) : 0);
        }
    }
}

bool ReplayChannel::mustWait(const replay::Entry &entry)
{
    if (entry.type == u"control_request" && entry.subtype == u"initialize") {
        if (m_initializeId.isEmpty())
            return true;
        m_names.insert(entry.requestId.toUtf8(), m_initializeId.toUtf8());
        return false;
    }
    if (entry.type != u"control_response")
        return false; // what the recorded host asked for is its affair
    const QString requestId = QString::fromUtf8(m_names.value(entry.requestId.toUtf8(), entry.requestId.toUtf8()));
    if (!m_asked.contains(requestId))
        return false;
    const auto found = m_answers.constFind(requestId);
    if (found == m_answers.constEnd())
        return true;
    m_asked.remove(requestId);
    if (!found->isEmpty())
        m_decision = *found;
    return false;
}

void ReplayChannel::perform(const replay::Entry &entry)
{
    switch (entry.kind) {
    case replay::Entry::Kind::In:
        break;
    case replay::Entry::Kind::Out: {
        const bool reply = entry.type == u"control_response";
        // Replies to requests that only the recorded host made.
        if (reply && m_names.value(entry.requestId.toUtf8()) != m_initializeId.toUtf8())
            return;
        if (entry.type == u"control_request")
            m_asked.insert(QString::fromUtf8(m_names.value(entry.requestId.toUtf8(), entry.requestId.toUtf8())));
        emitLine(replay::renamed(entry.message, m_names));
        // A result ends the turn: what is recorded behind it belongs to another branch.
        if (entry.type == u"result" && m_inTurn)
            m_at = m_entries.size();
        break;
    }
    case replay::Entry::Kind::ErrorOutput: {
        const QByteArray bytes = entry.message + '\n';
        const quint64 offset = std::exchange(m_errorOffset, m_errorOffset + quint64(bytes.size()));
        emit received(sandbox::Stream::ErrorOutput, offset, bytes);
        break;
    }
    case replay::Entry::Kind::Exit: {
        // A process that had answered stays for the next prompt; one that died in the turn dies again.
        const bool answered = m_inTurn && m_recording.turns.at((m_nextTurn + m_recording.turns.size() - 1) %
                                                               m_recording.turns.size()).hasResult;
        if (!answered)
            end(entry.exitCode);
        break;
    }
    }
}

void ReplayChannel::finishTurn()
{
    m_inTurn = false;
    if (m_waitingPrompts > 0) {
        --m_waitingPrompts;
        startTurn();
    }
}

void ReplayChannel::interrupt(const QString &requestId)
{
    if (!m_inTurn) {
        answer(requestId, R"({"still_queued":[]})");
        return;
    }
    m_timer.stop();
    bool toolOpen = false;
    for (const QString &asked : std::as_const(m_asked)) {
        if (m_answers.contains(asked))
            continue;
        toolOpen = true;
        emitLine(played({{"type", "control_cancel_request"}, {"request_id", asked.toStdString()}}));
    }
    m_asked.clear();
    answer(requestId, R"({"still_queued":[]})");
    const std::string session = m_sessionId.toStdString();
    emitLine(played({{"type", "user"},
                     {"message",
                      {{"role", "user"},
                       {"content", PlayedJson::array({PlayedJson{
                                       {"type", "text"},
                                       {"text", toolOpen ? "[Request interrupted by user for tool use]"
                                                         : "[Request interrupted by user]"}}})}}},
                     {"parent_tool_use_id", nullptr},
                     {"session_id", session}}));
    emitLine(played({{"type", "result"},
                     {"subtype", "error_during_execution"},
                     {"is_error", true},
                     {"terminal_reason", toolOpen ? "aborted_tools" : "aborted_streaming"},
                     {"num_turns", 1},
                     {"errors", PlayedJson::array()},
                     {"usage", {{"input_tokens", 0}, {"output_tokens", 0}}},
                     {"model_usage_since_last_result", PlayedJson::object()},
                     {"session_id", session}}));
    m_entries.clear();
    m_at = 0;
    m_waitingPrompts = 0;
    m_inTurn = false;
}

void ReplayChannel::emitLine(const QByteArray &json)
{
    const QByteArray bytes = json + '\n';
    const quint64 offset = std::exchange(m_outputOffset, m_outputOffset + quint64(bytes.size()));
    emit received(sandbox::Stream::Output, offset, bytes);
}

void ReplayChannel::answer(const QString &requestId, const QByteArray &response)
{
    emitLine(R"({"type":"control_response","response":{"subtype":"success","request_id":)" +
             played(PlayedJson(requestId.toStdString())) + (response.isEmpty() ? QByteArray() : R"(,"response":)" + response) +
             "}}");
}

void ReplayChannel::end(int code)
{
    if (!m_alive)
        return;
    m_timer.stop();
    m_alive = false;
    m_inTurn = false;
    m_welcome.exited = true;
    m_welcome.exitCode = code;
    emit exited(code);
}

void ReplayChannel::closeInput()
{
    later([this] { end(0); });
}

void ReplayChannel::signalHarness(int signal)
{
    later([this, signal] { end(128 + signal); });
}

void ReplayChannel::killHarness()
{
    signalHarness(9);
}

} // namespace engine

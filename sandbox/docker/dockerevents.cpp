#include "sandbox/docker/dockerevents.h"

#include <QPointer>
#include <nlohmann/json.hpp>

namespace sandbox {

namespace {

using nlohmann::json;

constexpr int firstRetryMs = 200;
constexpr int longestRetryMs = 10 * 1000;

} // namespace

DockerEvents::DockerEvents(DockerClient &client) : m_client(client), m_retryMs(firstRetryMs)
{
    m_retry.setSingleShot(true);
    connect(&m_retry, &QTimer::timeout, this, [this] { follow(); });
}

DockerEvents::~DockerEvents()
{
    stop();
}

void DockerEvents::start(const QString &label)
{
    stop();
    m_label = label;
    follow();
}

void DockerEvents::stop()
{
    m_retry.stop();
    if (m_cancel)
        m_cancel->cancel();
    m_cancel.reset();
}

QCoro::Task<> DockerEvents::follow()
{
    QPointer<DockerEvents> self(this);
    const auto cancel = std::make_shared<DockerCancel>();
    m_cancel = cancel;
    const Result<DockerEngine> engine = co_await m_client.connect();
    if (!self || cancel->isCancelled())
        co_return;
    Error why;
    if (engine) {
        DockerRequest request;
        request.path = QStringLiteral("/events");
        const json filters = {{"label", {m_label.toStdString()}}};
        request.query.addQueryItem(QStringLiteral("filters"),
                                   QString::fromLatin1(QUrl::toPercentEncoding(QString::fromStdString(filters.dump()))));
        request.limit = std::chrono::hours(24 * 20); // silence is no failure; about the most that a timer can take
        request.cancel = cancel;
        m_lines = {};
        request.onData = [self](const QByteArray &bytes) {
            if (!self)
                return;
            for (const QByteArray &line : self->m_lines.feed(bytes))
                self->takeLine(line);
        };
        // From here on nothing is missed; what happened before has to be asked for.
        request.onHead = [self] {
            if (!self)
                return;
            self->m_retryMs = firstRetryMs;
            emit self->listening();
        };
        const Result<DockerReply> ended = co_await m_client.request(request);
        if (!self || cancel->isCancelled())
            co_return;
        why = ended ? Error{Failure::Unreachable, ended->message(), {}} : ended.error();
    } else {
        why = engine.error();
    }
    emit lost(why);
    if (!self || cancel->isCancelled())
        co_return;
    m_retry.start(m_retryMs);
    m_retryMs = qMin(m_retryMs * 2, longestRetryMs);
}

void DockerEvents::takeLine(const QByteArray &line)
{
    const json parsed = json::parse(line.begin(), line.end(), nullptr, false);
    if (!parsed.is_object())
        return;
    const auto text = [](const json &object, const char *key) {
        const auto at = object.find(key);
        return at != object.end() && at->is_string() ? QString::fromStdString(at->get<std::string>()) : QString();
    };
    DockerEvent event;
    event.type = text(parsed, "Type");
    event.action = text(parsed, "Action").section(u':', 0, 0);
    if (const auto at = parsed.find("timeNano"); at != parsed.end() && at->is_number())
        event.timeNano = at->get<qint64>();
    if (const auto actor = parsed.find("Actor"); actor != parsed.end() && actor->is_object()) {
        event.id = text(*actor, "ID");
        const auto attributes = actor->find("Attributes");
        if (attributes != actor->end() && attributes->is_object()) {
            for (const auto &[key, value] : attributes->items()) {
                if (value.is_string())
                    event.attributes.insert(QString::fromStdString(key), QString::fromStdString(value.get<std::string>()));
            }
        }
    }
    emit happened(event);
}

} // namespace sandbox

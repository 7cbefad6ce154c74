// How a LiveSession starts a harness process: what it needs, whether it resumes, and the proof before it does.
#include "engine/gateway/credentials.h"
#include "engine/harness/codex/codexsettings.h"
#include "engine/harness/nativestate.h"
#include "engine/sessions/livesession.h"
#include "sandbox/docker/policy.h"

#include <QCoroFuture>
#include <QFile>
#include <QMessageAuthenticationCode>

namespace engine {
namespace {

constexpr int startTimeoutMs = 60 * 1000;

// Parameters by value: the coroutine outlives what called it.
QCoro::Task<Result<QByteArray>> credentialFor(QMap<QString, QString> environment, QString variable, QString entry)
{
    if (!entry.isEmpty()) {
        const Result<QByteArray> stored = co_await CredentialSource::read(entry);
        co_return stored;
    }
    const QByteArray key = environment.value(variable).toUtf8();
    if (key.isEmpty())
        co_return fail(ErrorCode::CredentialMissing,
                       LiveSession::tr("the environment variable %1 that holds the key is not set").arg(variable));
    co_return key;
}

QString describe(const ModelRequest &request)
{
    return QStringLiteral("%1 -> %2, first byte %3 ms, %4 ms, %5 tokens in, %6 out")
        .arg(request.path)
        .arg(request.status)
        .arg(request.firstByteMs)
        .arg(request.totalMs)
        .arg(request.inputTokens + request.cacheRead + request.cacheWrite)
        .arg(request.outputTokens);
}

} // namespace

QCoro::Task<Result<bool>> LiveSession::mustResume()
{
    if (m_agent.harness == HarnessKind::Replay)
        co_return false;
    if (m_session.native.transcriptSize >= 0)
        co_return true;
    // A first turn that never ended leaves a conversation that must not be created again.
    const Result<bool> held = co_await m_place->holds(m_session.native);
    co_return held;
}

Result<void> LiveSession::checkCredential(const LaunchContext &context) const
{
    if (m_agent.harness == HarnessKind::Replay || m_agent.keyVariable.isEmpty())
        return {};
    if (!context.hostEnvironment.value(m_agent.keyVariable).isEmpty() ||
        m_agent.environment.contains(m_agent.keyVariable))
        return {};
    // A signed-in configuration folder of the person's own needs no key.
    if (!m_agent.configFolder.isEmpty() &&
        QFile::exists(m_agent.configFolder + signedInFile(m_agent.harness)))
        return {};
    return fail(ErrorCode::CredentialMissing,
                tr("Agent %1 takes its key from the environment variable %2, which is not set. Set it and start "
                   "Signalbox again, or name another variable in the agent's settings. The prompt is kept.")
                    .arg(m_agent.name, m_agent.keyVariable));
}

// The same for every engine that comes after this one, which must know it again.
QByteArray LiveSession::gatewayToken(const QByteArray &secret, const SessionId &session)
{
    return "sb-" + QMessageAuthenticationCode::hash(session.value.toUtf8(), secret, QCryptographicHash::Sha256).toHex();
}

bool LiveSession::usesGateway() const
{
    return m_agent.harness == HarnessKind::Claude && m_provider &&
           (m_provider->capabilities().isolation || m_agent.computer.gateway);
}

// The harness is told a token instead of the key, and an address that leads to us.
void LiveSession::pointAtGateway(LaunchContext &context) const
{
    if (m_provider->capabilities().isolation) {
        context.hostEnvironment.clear();
        context.hostEnvironment.insert(QStringLiteral("HOME"), sandbox::containerpath::home);
        context.hostEnvironment.insert(QStringLiteral("USER"), QStringLiteral("agent"));
    }
    for (const char *name : {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"})
        context.hostEnvironment.remove(QLatin1String(name)); // the loopback is not to be looked for behind one
    context.agent.keyVariable = QStringLiteral("ANTHROPIC_API_KEY");
    context.hostEnvironment.insert(context.agent.keyVariable,
                                   QString::fromLatin1(gatewayToken(m_parts.gatewaySecret, m_id)));
    context.agent.baseUrl = QStringLiteral("http://127.0.0.1:%1").arg(m_channel ? m_channel->welcome().gatewayPort : 0);
    for (const char *name : {"ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"}) {
        context.agent.environment.remove(QLatin1String(name));
        context.hostEnvironment.remove(QLatin1String(name));
    }
}

void LiveSession::openGateway()
{
    if (!usesGateway() || m_channel->welcome().gatewayPort == 0)
        return;
    const bool isCodex = m_agent.harness == HarnessKind::Codex;
    const QString variable = isCodex ? QStringLiteral("OPENAI_BASE_URL") : QStringLiteral("ANTHROPIC_BASE_URL");
    const QString vendor = isCodex ? QStringLiteral("https://api.openai.com") : QStringLiteral("https://api.anthropic.com");
    const QString own = m_agent.baseUrl.isEmpty() ? m_parts.options.environment.value(variable) : m_agent.baseUrl;
    GatewayOptions options;
    options.api = isCodex ? ApiKind::OpenAi : ApiKind::Anthropic;
    options.upstream = QUrl(own.isEmpty() ? vendor : own);
    options.token = gatewayToken(m_parts.gatewaySecret, m_id);
    options.bearer = isCodex || m_agent.keyVariable == QLatin1String("ANTHROPIC_AUTH_TOKEN");
    options.budget.maxTokensPerRun = m_agent.computer.maxTokensPerRun;
    options.budget.maxRequestsPerMinute = m_agent.computer.maxRequestsPerMinute;
    options.clock = &m_parts.clock;
    options.credential = [environment = m_parts.options.environment, name = m_agent.keyVariable, entry = m_agent.computer.keyEntry] {
        return credentialFor(environment, name, entry);
    };
    m_gateway = std::make_unique<Gateway>(options, m_channel.get(), nullptr);
    m_gateway->setRun(m_recorder.run());
    connect(m_gateway.get(), &Gateway::requestFinished, this, [this](const ModelRequest &request) {
        m_recorder.event(QStringLiteral("ModelRequest"), describe(request));
    });
}

QCoro::Task<Result<LaunchContext>> LiveSession::launchContext(bool resume)
{
    LaunchContext context;
    context.agent = m_agent;
    context.session = m_session;
    context.resume = resume;
    context.workspace = m_place->workspace();
    context.hostEnvironment = m_parts.options.environment;
    context.configFolder = m_place->configFolder();
    if (usesGateway()) {
        const Result<void> held = m_agent.computer.keyEntry.isEmpty() ? checkCredential(context) : Result<void>{};
        if (!held)
            co_return tl::unexpected<Error>(held.error());
        pointAtGateway(context);
    }
    if (m_agent.harness == HarnessKind::Replay) {
        context.program = m_agent.recording;
        co_return context;
    }
    // Read from the store: a policy that another program wrote there is not passed on unseen.
    const Result<void> checked = m_agent.harness == HarnessKind::Codex ? checkCodexSettings(m_agent) : Result<void>{};
    if (!checked)
        co_return tl::unexpected<Error>(checked.error());
    if (!usesGateway()) {
        const Result<void> credential = checkCredential(context);
        if (!credential)
            co_return tl::unexpected<Error>(credential.error());
    }
    const Result<HarnessProgram> program = co_await m_place->program();
    if (!program)
        co_return tl::unexpected<Error>(program.error());
    context.program = program->path;
    context.version = program->version;
    if (!program->warning.isEmpty())
        m_recorder.event(QStringLiteral("HarnessVersion"), program->warning);
    const Result<void> prepared = co_await m_place->prepare(m_recorder.channel().launch == 0 && m_recorder.channel().generation <= 1);
    if (!prepared)
        co_return tl::unexpected<Error>(prepared.error());
    co_return context;
}

QCoro::Task<Result<void>> LiveSession::launchHarness()
{
    const Result<bool> resume = co_await mustResume();
    if (!resume)
        co_return tl::unexpected<Error>(resume.error());
    Result<LaunchContext> context = co_await launchContext(*resume);
    if (!context)
        co_return tl::unexpected<Error>(context.error());
    if (*resume) {
        const Result<QString> newestTurn = co_await m_place->verify(m_session.native);
        if (!newestTurn)
            co_return tl::unexpected<Error>(newestTurn.error());
        context->lastTurnId = *newestTurn;
    }
    if (m_detached)
        co_return fail(ErrorCode::ShuttingDown, tr("The engine is closing."));
    if (!m_channel)
        co_return fail(ErrorCode::WorkerUnreachable, tr("The worker of session %1 went away during the start.").arg(m_id.value));
    m_how = *resume ? QStringLiteral("resumed") : QStringLiteral("started");
    m_driver = makeDriver(m_agent.harness, m_parts.tools);
    ChannelState state = m_recorder.channel();
    state.launch += 1;
    state.outputOffset = 0;
    state.errorOffset = 0;
    const Result<void> kept = m_parts.stores.sessions.setChannelState(m_id, state);
    if (!kept)
        co_return kept;
    m_recorder.setChannel(state);
    m_splitter.reset(0);
    m_outputSeen = 0;
    m_errorSeen = 0;
    m_errorTail.clear();
    m_unwritten.clear();
    const QFuture<Result<void>> started = startSettled(startTimeoutMs, context->program);
    sandbox::LaunchSpec spec = m_driver->launchSpec(*context);
    // Two processes on one conversation would fork its transcript silently: the worker holds this while it lives.
    if (m_agent.harness != HarnessKind::Replay)
        spec.lockFile = QStringLiteral("%1/signalbox-%2.lock").arg(context->configFolder, m_session.native.nativeSessionId);
    m_channel->launch(spec);
    run(m_driver->begin(*context));
    Result<void> result = co_await started;
    if (result) {
        setState(State::Ready);
        co_return result;
    }
    if (m_channel && !m_exited)
        m_channel->killHarness();
    co_return result;
}

QCoro::Task<Result<NativeIdentity>> LiveSession::snapshotNative()
{
    if (!m_place)
        co_return fail(ErrorCode::NativeResumeFailed, tr("Session %1 has no computer.").arg(m_id.value));
    const std::shared_ptr<NativePlace> place = m_place; // a new computer may come meanwhile
    const Result<NativeIdentity> now = co_await place->snapshot(m_session.native);
    co_return now;
}

QFuture<Result<void>> LiveSession::startSettled(int timeoutMs, const QString &what)
{
    m_starting = std::make_shared<QPromise<Result<void>>>();
    m_starting->start();
    const std::weak_ptr<QPromise<Result<void>>> pending = m_starting;
    m_parts.clock.callAt(m_parts.clock.now().addMSecs(timeoutMs), this, [this, pending, timeoutMs, what] {
        if (pending.lock() && pending.lock() == m_starting)
            settleStart(fail(ErrorCode::HarnessFailed, tr("%1 did not get ready within %2 s and was stopped. Try again; the "
                                                          "Raw pane shows what it wrote.")
                                                           .arg(what)
                                                           .arg(timeoutMs / 1000)));
    });
    return m_starting->future();
}

} // namespace engine

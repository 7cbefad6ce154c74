#include "engine/types/states.h"

#include "engine/types/error.h"

#include <array>

namespace engine {
namespace {

template <class E> struct Named
{
    E value;
    const char *name;
};

template <class E, size_t N> QString nameOf(const std::array<Named<E>, N> &table, E value)
{
    for (const Named<E> &row : table) {
        if (row.value == value)
            return QString::fromLatin1(row.name);
    }
    Q_UNREACHABLE();
}

template <class E, size_t N> std::optional<E> valueOf(const std::array<Named<E>, N> &table, const QString &text)
{
    for (const Named<E> &row : table) {
        if (text == QLatin1String(row.name))
            return row.value;
    }
    return std::nullopt;
}

constexpr std::array<Named<RunState>, 6> runStates{{{RunState::Pending, "PENDING"},
                                                    {RunState::Running, "RUNNING"},
                                                    {RunState::Paused, "PAUSED"},
                                                    {RunState::Completed, "COMPLETED"},
                                                    {RunState::Error, "ERROR"},
                                                    {RunState::Cancelled, "CANCELLED"}}};
constexpr std::array<Named<ApprovalState>, 5> approvalStates{{{ApprovalState::Pending, "pending"},
                                                              {ApprovalState::Approved, "approved"},
                                                              {ApprovalState::Denied, "denied"},
                                                              {ApprovalState::Expired, "expired"},
                                                              {ApprovalState::Cancelled, "cancelled"}}};
constexpr std::array<Named<Delivery>, 6> deliveries{{{Delivery::None, "none"},
                                                     {Delivery::NotDelivered, "not_delivered"},
                                                     {Delivery::Written, "written"},
                                                     {Delivery::Acknowledged, "acknowledged"},
                                                     {Delivery::Executed, "executed"},
                                                     {Delivery::Lost, "lost"}}};
constexpr std::array<Named<ApprovalKind>, 4> approvalKinds{{{ApprovalKind::Tool, "tool"},
                                                            {ApprovalKind::Question, "question"},
                                                            {ApprovalKind::Plan, "plan"},
                                                            {ApprovalKind::Unknown, "unknown"}}};
constexpr std::array<Named<Gate>, 2> gates{{{Gate::Native, "native"}, {Gate::All, "all"}}};
constexpr std::array<Named<HarnessKind>, 3> harnessKinds{
    {{HarnessKind::Claude, "claude"}, {HarnessKind::Codex, "codex"}, {HarnessKind::Replay, "replay"}}};
constexpr std::array<Named<BlockKind>, 9> blockKinds{{{BlockKind::Prompt, "prompt"},
                                                      {BlockKind::Answer, "answer"},
                                                      {BlockKind::Thinking, "thinking"},
                                                      {BlockKind::Tool, "tool"},
                                                      {BlockKind::Approval, "approval"},
                                                      {BlockKind::Note, "note"},
                                                      {BlockKind::Warning, "warning"},
                                                      {BlockKind::Failure, "failure"},
                                                      {BlockKind::Unknown, "unknown"}}};
constexpr std::array<Named<ToolState>, 5> toolStates{{{ToolState::None, ""},
                                                      {ToolState::Running, "running"},
                                                      {ToolState::Done, "done"},
                                                      {ToolState::Failed, "failed"},
                                                      {ToolState::Denied, "denied"}}};
constexpr std::array<Named<ErrorCode>, 23> errorCodes{{{ErrorCode::Invalid, "invalid"},
                                                       {ErrorCode::NotFound, "not_found"},
                                                       {ErrorCode::Conflict, "conflict"},
                                                       {ErrorCode::ActionChanged, "action_changed"},
                                                       {ErrorCode::Expired, "expired"},
                                                       {ErrorCode::Stale, "stale"},
                                                       {ErrorCode::Forbidden, "forbidden"},
                                                       {ErrorCode::QueueFull, "queue_full"},
                                                       {ErrorCode::StorageUnavailable, "storage_unavailable"},
                                                       {ErrorCode::StorageNewer, "storage_newer"},
                                                       {ErrorCode::StorageBusy, "storage_busy"},
                                                       {ErrorCode::ProgramMissing, "program_missing"},
                                                       {ErrorCode::ProgramVersion, "program_version"},
                                                       {ErrorCode::CredentialMissing, "credential_missing"},
                                                       {ErrorCode::SandboxFailed, "sandbox_failed"},
                                                       {ErrorCode::WorkerUnreachable, "worker_unreachable"},
                                                       {ErrorCode::SandboxUnavailable, "sandbox_unavailable"},
                                                       {ErrorCode::HarnessFailed, "harness_failed"},
                                                       {ErrorCode::NativeResumeFailed, "native_resume_failed"},
                                                       {ErrorCode::NotSupported, "not_supported"},
                                                       {ErrorCode::Cancelled, "cancelled"},
                                                       {ErrorCode::ShuttingDown, "shutting_down"},
                                                       {ErrorCode::Internal, "internal"}}};

struct RunMove
{
    RunState from;
    RunState to;
};
constexpr std::array<RunMove, 10> runMoves{{{RunState::Pending, RunState::Running},
                                            {RunState::Pending, RunState::Cancelled},
                                            {RunState::Running, RunState::Paused},
                                            {RunState::Running, RunState::Completed},
                                            {RunState::Running, RunState::Error},
                                            {RunState::Running, RunState::Cancelled},
                                            {RunState::Running, RunState::Pending}, // a retry with attempts left
                                            {RunState::Paused, RunState::Running},
                                            {RunState::Paused, RunState::Error},
                                            {RunState::Paused, RunState::Cancelled}}};

} // namespace

QString toString(RunState state) { return nameOf(runStates, state); }
std::optional<RunState> runStateFromString(const QString &text) { return valueOf(runStates, text); }

bool isTerminal(RunState state)
{
    return state == RunState::Completed || state == RunState::Error || state == RunState::Cancelled;
}

bool mayMove(RunState from, RunState to)
{
    for (const RunMove &move : runMoves) {
        if (move.from == from && move.to == to)
            return true;
    }
    return false;
}

QString toString(ApprovalState state) { return nameOf(approvalStates, state); }
std::optional<ApprovalState> approvalStateFromString(const QString &text) { return valueOf(approvalStates, text); }

bool mayMove(ApprovalState from, ApprovalState to)
{
    return from == ApprovalState::Pending && to != ApprovalState::Pending;
}

QString toString(Delivery delivery) { return nameOf(deliveries, delivery); }
std::optional<Delivery> deliveryFromString(const QString &text) { return valueOf(deliveries, text); }
QString toString(ApprovalKind kind) { return nameOf(approvalKinds, kind); }
std::optional<ApprovalKind> approvalKindFromString(const QString &text) { return valueOf(approvalKinds, text); }
QString toString(Gate gate) { return nameOf(gates, gate); }
std::optional<Gate> gateFromString(const QString &text) { return valueOf(gates, text); }
QString toString(HarnessKind kind) { return nameOf(harnessKinds, kind); }
std::optional<HarnessKind> harnessKindFromString(const QString &text) { return valueOf(harnessKinds, text); }
QString toString(BlockKind kind) { return nameOf(blockKinds, kind); }
std::optional<BlockKind> blockKindFromString(const QString &text) { return valueOf(blockKinds, text); }
QString toString(ToolState state) { return nameOf(toolStates, state); }
std::optional<ToolState> toolStateFromString(const QString &text) { return valueOf(toolStates, text); }
QString toString(ErrorCode code) { return nameOf(errorCodes, code); }

} // namespace engine

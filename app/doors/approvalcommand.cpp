#include "app/doors/approvalcommand.h"

#include "app/doors/jsontext.h"
#include "app/doors/visibletext.h"

namespace app {

using namespace engine;

void ApprovalCommand::start()
{
    switch (m_arguments.action) {
    case Action::ListApprovals:
        list();
        return;
    case Action::ShowApproval:
        show();
        return;
    case Action::ResolveApproval:
        resolve();
        return;
    case Action::ContinueRun:
        continueRun();
        return;
    case Action::ExtendApproval:
        extend();
        return;
    default:
        break;
    }
    endWithError({ErrorCode::Internal, QStringLiteral("This is not a command about approvals."), {}});
}

void ApprovalCommand::list()
{
    ApprovalQuery query;
    query.pendingOnly = !m_arguments.all;
    then(m_engine.approvals(query), [this](const QList<Approval> &approvals) {
        if (m_arguments.json) {
            printLine(jsonText(approvals));
        } else {
            for (const Approval &approval : approvals)
                printLine(visibleText(
                    QStringLiteral("%1  %2  %3  %4")
                        .arg(approval.id.value, toString(approval.state), approval.agentName, approval.title)));
            if (approvals.isEmpty())
                m_console.err(QStringLiteral("Nothing needs you.\n"));
        }
        end(ExitCode::Ok);
    });
}

QString ApprovalCommand::describe(const Approval &approval) const
{
    const auto time = [](const QDateTime &at) {
        return at.isValid() ? at.toUTC().toString(Qt::ISODate) : QStringLiteral("-");
    };
    QStringList lines{
        QStringLiteral("%1  %2  %3").arg(approval.id.value, toString(approval.state), approval.title),
        QStringLiteral("run       %1 of session %2 (%3), agent %4")
            .arg(approval.runId.value, approval.sessionId.value, approval.sessionTitle, approval.agentName),
        QStringLiteral("kind      %1").arg(toString(approval.kind)),
        QStringLiteral("tool      %1").arg(approval.toolName),
        QStringLiteral("cwd       %1").arg(approval.cwd),
        QStringLiteral("reason    %1").arg(approval.reason),
        QStringLiteral("input     %1").arg(QString::fromUtf8(approval.input)),
        QStringLiteral("digest    %1").arg(approval.digest.value),
        QStringLiteral("asked     %1  expires %2").arg(time(approval.requestedAt), time(approval.expiresAt))};
    if (!approval.editedInput.isEmpty())
        lines.append(QStringLiteral("edited    %1").arg(QString::fromUtf8(approval.editedInput)));
    if (approval.nativeLost)
        lines.append(QStringLiteral("warning   native execution lost"));
    if (approval.decidedAt.isValid())
        lines.append(QStringLiteral("decided   %1 by %2  written %3  acknowledged %4  executed %5 %6")
                         .arg(time(approval.decidedAt), approval.decidedBy, time(approval.writtenAt),
                              time(approval.acknowledgedAt), time(approval.executedAt), approval.executedStatus));
    if (!approval.note.isEmpty())
        lines.append(QStringLiteral("note      %1").arg(approval.note));
    return visibleText(lines.join(u'\n'));
}

void ApprovalCommand::show()
{
    then(m_engine.approval({m_arguments.id}), [this](const Approval &approval) {
        printLine(m_arguments.json ? jsonText(approval) : describe(approval));
        if (approval.state == ApprovalState::Pending && !approval.seenAt.isValid())
            m_engine.markSeen({approval.id}, m_request.who);
        end(ExitCode::Ok);
    });
}

void ApprovalCommand::resolve()
{
    if (!m_arguments.digest.isEmpty()) {
        send({m_arguments.digest});
    } else if (!m_console.canAsk()) {
        endWithError({ErrorCode::Invalid,
                      QStringLiteral("A decision needs --digest: the one that `signalbox approvals show %1` prints for "
                                     "the action you reviewed.")
                          .arg(m_arguments.id),
                      {}});
    } else {
        then(m_engine.approval({m_arguments.id}), [this](const Approval &approval) { askAndResolve(approval); });
    }
}

void ApprovalCommand::askAndResolve(const Approval &approval)
{
    m_console.err(describe(approval) + u'\n');
    if (!m_arguments.inputFile.isEmpty())
        m_console.err(QStringLiteral("changed to %1\n").arg(visibleText(m_request.input)));
    const QString verb = m_arguments.verdict == Verdict::Approve ? QStringLiteral("Approve") : QStringLiteral("Deny");
    const Digest digest = approval.digest;
    m_console.ask(QStringLiteral("%1 exactly this? Type yes: ").arg(verb), [this, digest](const QString &answer) {
        if (answer.trimmed() == u"yes")
            send(digest);
        else
            endWithError({ErrorCode::Cancelled, QStringLiteral("Nothing was decided."), {}});
    });
}

void ApprovalCommand::send(const Digest &digest)
{
    Decision decision;
    decision.id = {m_arguments.id};
    decision.digest = digest;
    decision.verdict = m_arguments.verdict;
    decision.note = m_arguments.note;
    decision.editedInput = m_arguments.inputFile.isEmpty() ? QByteArray() : m_request.input.trimmed().toUtf8();
    decision.decidedBy = m_request.who;
    decision.key = m_arguments.key;
    decision.continueAfter = m_arguments.continueAfter;
    then(m_engine.resolve(decision), [this](const Resolved &resolved) {
        const Approval &approval = resolved.approval;
        if (m_arguments.json)
            printLine(jsonText(resolved));
        else
            printLine(QStringLiteral("%1 %2 by %3%4")
                          .arg(approval.id.value, toString(approval.state), approval.decidedBy,
                               resolved.repeated ? QStringLiteral(" (decided before with this key)") : QString()));
        if (!resolved.continued && !m_arguments.json)
            m_console.err(
                QStringLiteral("The run waits for: signalbox approvals continue %1\n").arg(approval.runId.value));
        end(ExitCode::Ok);
    });
}

void ApprovalCommand::continueRun()
{
    then(m_engine.continueRun({m_arguments.id}, m_request.who, m_arguments.wait), [this](const Continued &continued) {
        const Run &run = continued.run;
        if (m_arguments.json)
            printLine(jsonText(continued));
        else
            printLine(run.id.value + u' ' + toString(run.state));
        if (continued.attached)
            m_console.err(QStringLiteral("signalbox: it was going on already; attached to it.\n"));
        if (run.state == RunState::Error)
            m_console.err(QStringLiteral("signalbox: run %1 failed (%2): %3\n")
                              .arg(run.id.value, run.errorCode, visibleText(run.errorMessage)));
        if (!m_arguments.wait || run.state == RunState::Completed)
            end(ExitCode::Ok);
        else
            end(run.state == RunState::Paused ? ExitCode::NeedsYou : ExitCode::Failed);
    });
}

void ApprovalCommand::extend()
{
    then(m_engine.extendApproval({m_arguments.id}, m_arguments.seconds, m_request.who),
         [this](const Approval &approval) {
             printLine(m_arguments.json
                           ? jsonText(approval)
                           : approval.id.value + u" expires " + approval.expiresAt.toUTC().toString(Qt::ISODate));
             end(ExitCode::Ok);
         });
}

} // namespace app

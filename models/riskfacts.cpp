// Facts that rules find in an action. Rules look for words, not for intent: they name what to look at.
#include "models/approvalinput.h"
#include "models/toolsummary.h"
#include "models/visibletext.h"

#include <QCoreApplication>
#include <QDir>
#include <QRegularExpression>
#include <array>

namespace models {
namespace {

struct CommandRule
{
    const char *pattern;
    const char *what;
    const char *why;
};

constexpr std::array<CommandRule, 9> commandRules{{
    {"(^|[\\s;&|(`])(sudo|doas|su|pkexec)\\b", QT_TRANSLATE_NOOP("models::RiskFacts", "Asks for other rights"),
     QT_TRANSLATE_NOOP("models::RiskFacts", "sudo, doas, su or pkexec runs what follows as another user.")},
    {"(^|[\\s;&|(`/])rm\\s+(-[a-zA-Z]*[rRf]|--recursive|--force)|\\bfind\\b.*\\s-delete\\b|\\bshred\\b",
     QT_TRANSLATE_NOOP("models::RiskFacts", "Deletes"),
     QT_TRANSLATE_NOOP("models::RiskFacts", "Deletes whole folders or without asking; this can't be undone.")},
    {"(curl|wget|fetch)\\b[^;&]*\\|\\s*(sudo\\s+)?(ba|z|da|k)?sh\\b|\\b(ba|z|da)?sh\\s+(-c\\s+)?[\"']?(<\\(|\\$\\()\\s*(curl|wget)",
     QT_TRANSLATE_NOOP("models::RiskFacts", "Runs what it downloads"),
     QT_TRANSLATE_NOOP("models::RiskFacts", "A download goes straight into a shell: nobody has seen what runs.")},
    {"\\bgit\\b[^;&|]*\\bpush\\b", QT_TRANSLATE_NOOP("models::RiskFacts", "Publishes"),
     QT_TRANSLATE_NOOP("models::RiskFacts", "git push changes a repository that others use.")},
    {"\\bgit\\b[^;&|]*\\b(reset\\s+--hard|clean\\s+-[a-z]*f|checkout\\s+--\\s)|--force(-with-lease)?\\b",
     QT_TRANSLATE_NOOP("models::RiskFacts", "Overwrites work"),
     QT_TRANSLATE_NOOP("models::RiskFacts", "Forced or hard changes drop what was not committed or not fetched.")},
    {"(^|[\\s;&|(`])(curl|wget|ssh|scp|rsync|nc|ftp)\\b|https?://",
     QT_TRANSLATE_NOOP("models::RiskFacts", "Uses the network"),
     QT_TRANSLATE_NOOP("models::RiskFacts", "Talks to another computer: data can leave or come in.")},
    {"\\b(chmod|chown|setfacl)\\b", QT_TRANSLATE_NOOP("models::RiskFacts", "Changes permissions"),
     QT_TRANSLATE_NOOP("models::RiskFacts", "Who may read, write or run files changes.")},
    {"(\\.ssh\\b|\\.env\\b|id_rsa|id_ed25519|\\.netrc|\\.aws/|API_KEY|SECRET|TOKEN|PASSWORD)",
     QT_TRANSLATE_NOOP("models::RiskFacts", "Names a secret"),
     QT_TRANSLATE_NOOP("models::RiskFacts", "A key file, token or password is named.")},
    {"(^|[\\s;&|(`])(dd|mkfs\\S*|shutdown|reboot|kill|pkill|killall|systemctl)\\b",
     QT_TRANSLATE_NOOP("models::RiskFacts", "Acts on the system"),
     QT_TRANSLATE_NOOP("models::RiskFacts", "Disks, services or other programs are touched.")},
}};

QString trRisk(const char *text)
{
    return QCoreApplication::translate("models::RiskFacts", text);
}

bool isOutside(const QString &path, const QString &folder)
{
    if (folder.isEmpty() || path.isEmpty())
        return false;
    if (path.startsWith(u'~'))
        return true;
    const QString whole = QDir::cleanPath(QDir::isAbsolutePath(path) ? path : folder + u'/' + path);
    const QString root = QDir::cleanPath(folder);
    return whole != root && !whole.startsWith(root + u'/');
}

// A command may come wrapped in the shell that runs it: its first word is looked at like every other.
QString withoutShell(const QString &command)
{
    static const QRegularExpression shell(QStringLiteral("^(?:\\S*/)?(?:ba|z|da)?sh\\s+-l?c\\s+(['\"])(.*)\\1$"),
                                          QRegularExpression::DotMatchesEverythingOption);
    const QRegularExpressionMatch match = shell.match(command);
    return match.hasMatch() ? match.captured(2) : command;
}

bool redirectsOutside(const QString &command, const QString &folder)
{
    static const QRegularExpression redirect(QStringLiteral("(?:>>?|\\btee\\s+(?:-a\\s+)?)\\s*[\"']?([^\\s\"';&|>]+)"));
    for (auto found = redirect.globalMatch(command); found.hasNext();) {
        const QString target = found.next().captured(1);
        if (!target.startsWith(u"/dev/null") && !target.startsWith(u'&') && isOutside(target, folder))
            return true;
    }
    return false;
}

} // namespace

QList<RiskFact> riskFacts(const engine::Approval &approval)
{
    QList<RiskFact> facts;
    if (approval.kind == engine::ApprovalKind::Question)
        return facts;
    const QString input = QString::fromUtf8(approval.input);
    const ToolSummary summary = toolSummary(approval.toolName, input);
    // Arguments of tools that carry no command are file contents: words in them run nothing.
    if (!summary.edit && summary.changed.isEmpty() && approval.kind == engine::ApprovalKind::Tool) {
        const QString inner = withoutShell(summary.line);
        for (const CommandRule &rule : commandRules) {
            const QRegularExpression pattern(QString::fromLatin1(rule.pattern));
            if (pattern.match(summary.line).hasMatch() || pattern.match(inner).hasMatch())
                facts.append({trRisk(rule.what), trRisk(rule.why)});
        }
        if (redirectsOutside(inner, approval.cwd))
            facts.append({trRisk("Writes outside the folder"), trRisk("Output goes to a file outside of %1.").arg(approval.cwd)});
    }
    if (isOutside(summary.path, approval.cwd))
        facts.append({summary.edit ? trRisk("Writes outside the folder") : trRisk("Reaches outside the folder"),
                      trRisk("%1 is not below %2.").arg(summary.path, approval.cwd)});
    for (const QString &path : summary.changed) {
        if (isOutside(path, approval.cwd))
            facts.append({trRisk("Writes outside the folder"), trRisk("%1 is not below %2.").arg(path, approval.cwd)});
    }
    if (!approval.blockedPath.isEmpty())
        facts.append({trRisk("Blocked path"), trRisk("The harness names %1 as outside of what it may touch.").arg(approval.blockedPath)});
    for (const ActionPart &part : actionParts(approval)) {
        QString whole = part.text;
        for (const DiffLine &line : part.diff)
            whole += line.text + u'\n';
        if (const VisibleText shown = visibleText(whole); !shown.isPlain()) {
            facts.append({trRisk("Hidden or misleading characters"), markSummary(shown.marks)});
            break;
        }
    }
    return facts;
}

} // namespace models

#include "app/doors/arguments.h"

#include <QHash>

namespace app {

namespace {

using Parsed = tl::expected<Arguments, QString>;

// The words of one command line, taken from the front; options may stand anywhere.
class ArgumentReader
{
public:
    explicit ArgumentReader(const QStringList &words) : m_words(words) {}

    Parsed read()
    {
        while (m_at < m_words.size() && m_error.isEmpty())
            take(m_words.at(m_at++));
        if (m_error.isEmpty())
            understand();
        if (!m_error.isEmpty())
            return tl::unexpected<QString>(m_error);
        return m_result;
    }

private:
    void take(const QString &word)
    {
        if (m_onlyNames || !word.startsWith(u'-') || word == u"-") {
            m_names.append(word);
            return;
        }
        if (word == u"--") {
            m_onlyNames = true;
            return;
        }
        const qsizetype equals = word.indexOf(u'=');
        const QString name = word.left(equals < 0 ? word.size() : equals);
        m_value = equals < 0 ? QString() : word.mid(equals + 1);
        m_hasValue = equals >= 0;
        if (!takeSwitch(name) && !takeOption(name))
            m_error = QStringLiteral("Unknown option %1. `signalbox --help` lists them.").arg(name);
        else
            m_given.append(name);
    }

    bool takeSwitch(const QString &name)
    {
        if (name == u"--json")
            m_result.json = true;
        else if (name == u"--demo")
            m_result.demo = true;
        else if (name == u"--wait")
            m_result.wait = true;
        else if (name == u"--no-wait")
            m_result.wait = false;
        else if (name == u"--follow")
            m_result.follow = true;
        else if (name == u"--all")
            m_result.all = true;
        else if (name == u"--continue")
            m_result.continueAfter = true;
        else if (name == u"--approve" || name == u"--deny")
            m_result.verdict = name == u"--approve" ? engine::Verdict::Approve : engine::Verdict::Deny;
        else if (name == u"--help" || name == u"-h")
            m_alone = Action::Help;
        else if (name == u"--version")
            m_alone = Action::Version;
        else if (name == u"--headless")
            m_alone = Action::Headless;
        else if (name == u"--raise")
            m_alone = Action::Raise;
        else
            return false;
        if (m_hasValue)
            m_error = QStringLiteral("%1 takes no value.").arg(name);
        return true;
    }

    bool takeOption(const QString &name)
    {
        const QHash<QString, QString *> places{{QStringLiteral("--data"), &m_result.dataFolder},
                                               {QStringLiteral("--tour"), &m_result.tourFolder},
                                               {QStringLiteral("--session"), &m_result.id},
                                               {QStringLiteral("--agent"), &m_result.agent},
                                               {QStringLiteral("--workspace"), &m_result.workspace},
                                               {QStringLiteral("--title"), &m_result.title},
                                               {QStringLiteral("--key"), &m_result.key},
                                               {QStringLiteral("--base"), &m_result.base},
                                               {QStringLiteral("--base-archive"), &m_result.baseArchive},
                                               {QStringLiteral("--tag"), &m_result.tag},
                                               {QStringLiteral("--note"), &m_result.note},
                                               {QStringLiteral("--digest"), &m_result.digest},
                                               {QStringLiteral("--input"), &m_result.inputFile}};
        QString *place = places.value(name);
        if (!place)
            return false;
        if (!m_hasValue) {
            if (m_at >= m_words.size()) {
                m_error = QStringLiteral("%1 needs a value.").arg(name);
                return true;
            }
            m_value = m_words.at(m_at++);
        }
        *place = m_value;
        if (m_value.isEmpty() && name != u"--note" && name != u"--title")
            m_error = QStringLiteral("%1 needs a value that is not empty.").arg(name);
        if (name == u"--tour")
            m_alone = Action::Tour;
        return true;
    }

    void understand()
    {
        if (m_alone && (*m_alone == Action::Help || *m_alone == Action::Version)) {
            m_result.action = *m_alone;
            return;
        }
        if (m_names.isEmpty()) {
            m_result.action = m_alone.value_or(Action::Window);
            allow({});
            return;
        }
        if (m_alone) {
            m_error = QStringLiteral("%1 goes with no command; \"%2\" was given.").arg(m_given.last(), m_names.first());
            return;
        }
        const QString command = m_names.takeFirst();
        if (command == u"run")
            understandRun();
        else if (command == u"sessions")
            understandSessions();
        else if (command == u"approvals")
            understandApprovals();
        else if (command == u"agents")
            understandAgents();
        else if (command == u"sandboxes")
            understandSandboxes();
        else if (command == u"doctor")
            finish(Action::Doctor, {});
        else
            m_error = QStringLiteral("Unknown command \"%1\". Known are run, sessions, approvals, agents, sandboxes and doctor.")
                          .arg(command);
    }

    void understandRun()
    {
        m_result.prompt = takeName(QStringLiteral("a prompt (or - to read it from standard input)"));
        finish(Action::Run,
               {"--session", "--agent", "--workspace", "--title", "--key", "--wait", "--no-wait", "--follow"});
        if (!m_error.isEmpty())
            return;
        if (!m_result.id.isEmpty() && (given("--agent") || given("--workspace") || given("--title")))
            m_error =
                QStringLiteral("--session names a session that exists; --agent, --workspace and --title are for a "
                               "new one.");
        else if (given("--wait") && given("--no-wait"))
            m_error = QStringLiteral("--wait and --no-wait exclude each other.");
        else if (m_result.follow && !m_result.wait)
            m_error = QStringLiteral("--follow waits for the run; it does not go with --no-wait.");
        else if (m_result.prompt.trimmed().isEmpty())
            m_error = QStringLiteral("The prompt is empty.");
    }

    void understandSessions()
    {
        const QString verb = m_names.isEmpty() ? QStringLiteral("list") : m_names.takeFirst();
        if (verb == u"list") {
            finish(Action::ListSessions, {});
        } else if (verb == u"show") {
            m_result.id = takeName(QStringLiteral("a session's id"));
            finish(Action::ShowSession, {});
        } else {
            m_error = QStringLiteral("Unknown: sessions %1. Known are list and show.").arg(verb);
        }
    }

    void understandAgents()
    {
        const QString verb = m_names.isEmpty() ? QStringLiteral("list") : m_names.takeFirst();
        if (verb == u"list")
            finish(Action::ListAgents, {});
        else
            m_error = QStringLiteral("Unknown: agents %1. Known is list.").arg(verb);
    }

    void understandSandboxes()
    {
        const QString verb = m_names.isEmpty() ? QStringLiteral("list") : m_names.takeFirst();
        if (verb == u"list")
            finish(Action::ListComputers, {});
        else if (verb == u"leftovers")
            finish(Action::ListLeftovers, {});
        else if (verb == u"tidy")
            finish(Action::RemoveLeftovers, {});
        else if (verb == u"images")
            finish(Action::ListImages, {});
        else if (verb == u"build-image")
            finish(Action::BuildImage, {"--tag", "--base", "--base-archive"});
        else
            m_error = QStringLiteral("Unknown: sandboxes %1. Known are list, leftovers, tidy, images and build-image.").arg(verb);
    }

    void understandApprovals()
    {
        const QString verb = m_names.isEmpty() ? QStringLiteral("list") : m_names.takeFirst();
        if (verb == u"list") {
            finish(Action::ListApprovals, {"--all"});
        } else if (verb == u"show") {
            m_result.id = takeName(QStringLiteral("an approval's id"));
            finish(Action::ShowApproval, {});
        } else if (verb == u"resolve") {
            m_result.id = takeName(QStringLiteral("an approval's id"));
            finish(Action::ResolveApproval,
                   {"--approve", "--deny", "--note", "--digest", "--input", "--key", "--continue"});
            checkVerdict();
        } else if (verb == u"continue") {
            m_result.id = takeName(QStringLiteral("a run's id"));
            finish(Action::ContinueRun, {"--wait", "--no-wait"});
            m_result.wait = given("--wait");
        } else if (verb == u"extend") {
            m_result.id = takeName(QStringLiteral("an approval's id"));
            const QString seconds = takeName(QStringLiteral("a number of seconds"));
            finish(Action::ExtendApproval, {});
            bool isNumber = false;
            m_result.seconds = seconds.toInt(&isNumber);
            if (m_error.isEmpty() && (!isNumber || m_result.seconds < 1))
                m_error = QStringLiteral("\"%1\" is not a number of seconds above 0.").arg(seconds);
        } else {
            m_error =
                QStringLiteral("Unknown: approvals %1. Known are list, show, resolve, continue and extend.").arg(verb);
        }
    }

    void checkVerdict()
    {
        if (!m_error.isEmpty())
            return;
        if (given("--approve") == given("--deny"))
            m_error = QStringLiteral("Say one of --approve and --deny.");
        else if (given("--deny") && given("--input"))
            m_error = QStringLiteral("--input changes what is approved; it does not go with --deny.");
    }

    QString takeName(const QString &what)
    {
        if (!m_names.isEmpty())
            return m_names.takeFirst();
        if (m_error.isEmpty())
            m_error = QStringLiteral("Missing: %1.").arg(what);
        return {};
    }

    void finish(Action action, const QStringList &options)
    {
        m_result.action = action;
        if (m_error.isEmpty() && !m_names.isEmpty())
            m_error =
                QStringLiteral("\"%1\" is one word too many; quote a prompt of several words.").arg(m_names.first());
        allow(options);
    }

    void allow(const QStringList &options)
    {
        static const QStringList everywhere{QStringLiteral("--data"), QStringLiteral("--demo"),
                                            QStringLiteral("--json")};
        static const QStringList alone{QStringLiteral("--headless"), QStringLiteral("--tour"),
                                       QStringLiteral("--raise")};
        for (const QString &name : m_given) {
            const bool stands = m_result.action == Action::Headless || m_result.action == Action::Tour ||
                                m_result.action == Action::Raise;
            if (!everywhere.contains(name) && !options.contains(name) && !(stands && alone.contains(name)) &&
                m_error.isEmpty())
                m_error = QStringLiteral("%1 has no meaning here.").arg(name);
        }
    }

    bool given(const char *name) const { return m_given.contains(QLatin1String(name)); }

    QStringList m_words;
    qsizetype m_at = 0;
    bool m_onlyNames = false;
    bool m_hasValue = false;
    QString m_value;
    QStringList m_names;
    QStringList m_given;
    std::optional<Action> m_alone;
    Arguments m_result;
    QString m_error;
};

} // namespace

Parsed parseArguments(const QStringList &words)
{
    return ArgumentReader(words).read();
}

} // namespace app

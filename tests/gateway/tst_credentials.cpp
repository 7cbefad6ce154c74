#include "engine/gateway/credentials.h"

#include <QCoreApplication>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace engine;

// The secret store as it is: a real keyring on a bus of its own, and no bus at all. Each runs this program again in
// that surrounding.
class TestCredentials : public QObject
{
    Q_OBJECT

private slots:
    void variable();
    void keyring();
    void noSecretStore();

private:
    int runIn(const QString &script, const QString &bus);
};

static int insideKeyring()
{
    const QString name = QStringLiteral("model-key");
    const auto missing = QCoro::waitFor(CredentialSource::read(name));
    if (missing || missing.error().code != ErrorCode::CredentialMissing)
        return 10;
    if (!QCoro::waitFor(CredentialSource::write(name, "sk-kept")))
        return 11;
    if (QCoro::waitFor(CredentialSource::resolve(name)).value_or(QByteArray()) != "sk-kept")
        return 12;
    if (!QCoro::waitFor(CredentialSource::remove(name)) || QCoro::waitFor(CredentialSource::read(name)))
        return 13;
    return 0;
}

static int withoutStore()
{
    const auto written = QCoro::waitFor(CredentialSource::write(QStringLiteral("k"), "sk-never"));
    const auto read = QCoro::waitFor(CredentialSource::read(QStringLiteral("k")));
    if (written || read)
        return 20;
    if (written.error().message.contains(QLatin1String("sk-never")))
        return 21;
    return read.error().message.contains(QLatin1String("environment variable")) ? 0 : 22;
}

void TestCredentials::variable()
{
    qputenv("SIGNALBOX_TEST_KEY", "sk-from-variable\n");
    QCOMPARE(QCoro::waitFor(CredentialSource::resolve(QStringLiteral("env:SIGNALBOX_TEST_KEY"))).value_or(QByteArray()),
             QByteArray("sk-from-variable"));
    const auto missing = CredentialSource::fromEnvironment(QStringLiteral("SIGNALBOX_NO_SUCH"));
    QVERIFY(!missing);
    QVERIFY(missing.error().message.contains(QLatin1String("SIGNALBOX_NO_SUCH")));
}

int TestCredentials::runIn(const QString &script, const QString &bus)
{
    QTemporaryDir home;
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("HOME"), home.path());
    environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), home.path());
    environment.insert(QStringLiteral("XDG_DATA_HOME"), home.path());
    environment.insert(QStringLiteral("PROGRAM"), QCoreApplication::applicationFilePath());
    environment.insert(QStringLiteral("DBUS_SESSION_BUS_ADDRESS"), bus);
    environment.remove(QStringLiteral("DISPLAY"));
    process.setProcessEnvironment(environment);
    process.setProcessChannelMode(QProcess::ForwardedChannels);
    process.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), script});
    if (!process.waitForFinished(60000))
        return -1;
    return process.exitCode();
}

void TestCredentials::keyring()
{
    if (QStandardPaths::findExecutable(QStringLiteral("gnome-keyring-daemon")).isEmpty()) {
        QVERIFY2(!qEnvironmentVariableIsSet("CI"), "gnome-keyring is missing");
        QSKIP("gnome-keyring is not installed");
    }
    QCOMPARE(runIn(QStringLiteral("exec dbus-run-session -- sh -c 'printf pw | gnome-keyring-daemon --unlock "
                                  "--components=secrets >/dev/null && exec \"$PROGRAM\" --inside-keyring'"),
                   QString()),
             0);
}

void TestCredentials::noSecretStore()
{
    QCOMPARE(runIn(QStringLiteral("exec \"$PROGRAM\" --without-store"), QStringLiteral("unix:path=/nonexistent/bus")), 0);
}

int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    if (app.arguments().contains(QLatin1String("--inside-keyring")))
        return insideKeyring();
    if (app.arguments().contains(QLatin1String("--without-store")))
        return withoutStore();
    TestCredentials test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_credentials.moc"

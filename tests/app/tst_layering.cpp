#include <QDirIterator>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>

namespace {

struct Layer
{
    QString name;       // its folder
    QStringList mayUse; // folders beside its own
};

// The architecture (STYLE.md, Layers). A longer folder name wins over a shorter one.
const QList<Layer> &layers()
{
    static const QString types = QStringLiteral("engine/types"), store = QStringLiteral("engine/store"),
                         harness = QStringLiteral("engine/harness"), tools = QStringLiteral("engine/tools"),
                         queue = QStringLiteral("engine/queue"), approvals = QStringLiteral("engine/approvals"),
                         sessions = QStringLiteral("engine/sessions"), gateway = QStringLiteral("engine/gateway"),
                         workspace = QStringLiteral("engine/workspace"), sandboxes = QStringLiteral("engine/sandboxes"), engine = QStringLiteral("engine"),
                         sandbox = QStringLiteral("sandbox"), protocol = QStringLiteral("sandbox/protocol"),
                         worker = QStringLiteral("sandbox/worker"), models = QStringLiteral("models"),
                         ui = QStringLiteral("ui"), doors = QStringLiteral("app/doors"), app = QStringLiteral("app");
    // What all parts of the engine share lies beside them, not below.
    static const QString stores = QStringLiteral("engine/stores.h"), feed = QStringLiteral("engine/feed.h"),
                         recorder = QStringLiteral("engine/recorder.h"),
                         options = QStringLiteral("engine/engineoptions.h");
    static const QList<Layer> table{
        {protocol, {}},
        {worker, {protocol}},
        {sandbox, {protocol}},
        {types, {}},
        {store, {types}},
        {tools, {types, harness}},
        {gateway, {types, sandbox}},
        {workspace, {types, sandbox}},
        {harness, {types, sandbox, tools}},
        {queue, {types, store, harness, approvals, stores, feed}},
        {approvals, {types, store, harness, stores, feed, recorder}},
        {sessions, {types, store, harness, tools, queue, approvals, gateway, workspace, sandbox, stores, feed, recorder, options}},
        {sandboxes, {types, store, harness, sessions, sandbox, stores, feed, options}},
        {engine, {types, store, harness, tools, queue, approvals, sessions, sandboxes, gateway, sandbox}},
        {models, {types, QStringLiteral("engine/engineclient.h")}},
        {ui, {models, types, QStringLiteral("engine/engineclient.h")}},
        {doors, {types, engine}},
        {app, {doors, ui, models, types, engine}},
    };
    return table;
}

QString layerOf(const QString &path)
{
    QString found;
    for (const Layer &layer : layers()) {
        if (path.startsWith(layer.name + u'/') && layer.name.size() > found.size())
            found = layer.name;
    }
    return found;
}

QStringList sourceFiles(const QStringList &patterns)
{
    QStringList files;
    for (const char *folder : {"app", "ui", "models", "engine", "sandbox"}) {
        QDirIterator walk(QStringLiteral(SOURCE_DIR "/") + QLatin1String(folder), patterns, QDir::Files,
                          QDirIterator::Subdirectories);
        while (walk.hasNext())
            files.append(walk.next().mid(int(qstrlen(SOURCE_DIR)) + 1));
    }
    files.sort();
    return files;
}

QString contentOf(const QString &file)
{
    QFile source(QStringLiteral(SOURCE_DIR "/") + file);
    return source.open(QIODevice::ReadOnly) ? QString::fromUtf8(source.readAll()) : QString();
}

QStringList includesOf(const QString &file, const QString &pattern)
{
    static QRegularExpression include;
    include.setPattern(pattern);
    include.setPatternOptions(QRegularExpression::MultilineOption);
    QStringList found;
    auto matches = include.globalMatch(contentOf(file));
    while (matches.hasNext())
        found.append(matches.next().captured(1));
    return found;
}

bool mayInclude(const QString &file, const QString &header)
{
    const QString from = layerOf(file);
    const QString to = layerOf(header);
    if (from == to)
        return true;
    for (const Layer &layer : layers()) {
        if (layer.name == from)
            return layer.mayUse.contains(to) || layer.mayUse.contains(header);
    }
    return false;
}

// Libraries an executable needs, through all its libraries, as the loader sees it.
QString neededBy(const QString &program)
{
    QProcess ldd;
    ldd.start(QStringLiteral("ldd"), {program});
    return ldd.waitForFinished() ? QString::fromUtf8(ldd.readAllStandardOutput()) : QString();
}

} // namespace

class TestLayering : public QObject
{
    Q_OBJECT

private slots:
    void tableKnowsEveryFile();
    void includesGoOneWay();
    void tableRefusesWrongArrows();
    void headersHoldNoJson();
    void sqlStaysInItsFolder();
    void modelsAndEngineUseNoWidget();
    void protocolUsesNoQt();
    void headlessLinksNoWidget();
    void filesAreOfNormalLength();
};

void TestLayering::tableKnowsEveryFile()
{
    const QStringList files = sourceFiles({QStringLiteral("*.h"), QStringLiteral("*.cpp")});
    QVERIFY(files.size() > 50);
    for (const QString &file : files)
        QVERIFY2(!layerOf(file).isEmpty(), qPrintable(file));
}

void TestLayering::includesGoOneWay()
{
    QStringList wrong;
    for (const QString &file : sourceFiles({QStringLiteral("*.h"), QStringLiteral("*.cpp")})) {
        for (const QString &header : includesOf(file, QStringLiteral(R"re(^\s*#\s*include\s+"([^"]+)")re"))) {
            if (header.endsWith(QLatin1String(".moc")))
                continue;
            if (layerOf(header).isEmpty())
                wrong.append(file + u" includes " + header + u", which does not carry its folder");
            else if (!mayInclude(file, header))
                wrong.append(file + u" includes " + header);
        }
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
}

void TestLayering::tableRefusesWrongArrows()
{
    QVERIFY(!mayInclude(QStringLiteral("engine/engine.cpp"), QStringLiteral("ui/mainwindow.h")));
    QVERIFY(!mayInclude(QStringLiteral("ui/page.cpp"), QStringLiteral("engine/engine.h")));
    QVERIFY(!mayInclude(QStringLiteral("ui/page.cpp"), QStringLiteral("engine/store/runstore.h")));
    QVERIFY(!mayInclude(QStringLiteral("models/list.cpp"), QStringLiteral("ui/page.h")));
    QVERIFY(!mayInclude(QStringLiteral("sandbox/x.cpp"), QStringLiteral("engine/types/ids.h")));
    QVERIFY(!mayInclude(QStringLiteral("engine/store/x.cpp"), QStringLiteral("engine/queue/x.h")));
    QVERIFY(mayInclude(QStringLiteral("ui/page.cpp"), QStringLiteral("engine/engineclient.h")));
}

void TestLayering::headersHoldNoJson()
{
    for (const QString &file : sourceFiles({QStringLiteral("*.h")}))
        QVERIFY2(!contentOf(file).contains(QStringLiteral("nlohmann")), qPrintable(file));
}

void TestLayering::sqlStaysInItsFolder()
{
    static const QRegularExpression statement(QStringLiteral(
        R"re("[^"\n]*\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(TABLE|INDEX)|)re"
        R"re(PRAGMA\s)[^"\n]*")re"));
    QStringList wrong;
    for (const QString &file : sourceFiles({QStringLiteral("*.h"), QStringLiteral("*.cpp")})) {
        const auto match = statement.match(contentOf(file));
        if (match.hasMatch())
            wrong.append(file + u": " + match.captured());
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
    QVERIFY(statement.match(QStringLiteral("x(\"SELECT a FROM b\")")).hasMatch());
}

void TestLayering::modelsAndEngineUseNoWidget()
{
    static const QStringList widgets{QStringLiteral("QWidget"), QStringLiteral("QApplication"),
                                     QStringLiteral("QLabel"), QStringLiteral("QStyledItemDelegate"),
                                     QStringLiteral("QAbstractItemView")};
    for (const QString &file : sourceFiles({QStringLiteral("*.h"), QStringLiteral("*.cpp")})) {
        if (file.startsWith(QLatin1String("ui/")) ||
            (file.startsWith(QLatin1String("app/")) && !file.startsWith(QLatin1String("app/doors/"))))
            continue;
        for (const QString &header : includesOf(file, QStringLiteral(R"(^\s*#\s*include\s+<([^>]+)>)")))
            QVERIFY2(!widgets.contains(header), qPrintable(file + u" includes " + header));
    }
}

void TestLayering::protocolUsesNoQt()
{
    for (const QString &file : sourceFiles({QStringLiteral("*.h"), QStringLiteral("*.cpp")})) {
        if (!file.startsWith(QLatin1String("sandbox/protocol/")) && !file.startsWith(QLatin1String("sandbox/worker/")))
            continue;
        for (const QString &header : includesOf(file, QStringLiteral(R"(^\s*#\s*include\s+<([^>]+)>)")))
            QVERIFY2(!header.startsWith(u'Q'), qPrintable(file + u" includes " + header));
    }
}

void TestLayering::headlessLinksNoWidget()
{
    const QString headless = neededBy(QStringLiteral(BINARY_DIR "/bin/signalbox-headless"));
    QVERIFY2(headless.contains(QLatin1String("libQt6Core")), "ldd said nothing of Qt");
    QVERIFY2(!headless.contains(QLatin1String("libQt6Widgets")), qPrintable(headless));
    QVERIFY2(!headless.contains(QLatin1String("libQt6Gui")), qPrintable(headless));
    QVERIFY(neededBy(QStringLiteral(BINARY_DIR "/bin/signalbox")).contains(QLatin1String("libQt6Widgets")));
}

void TestLayering::filesAreOfNormalLength()
{
    for (const QString &file : sourceFiles({QStringLiteral("*.h"), QStringLiteral("*.cpp")})) {
        const qsizetype lines = contentOf(file).count(u'\n');
        const qsizetype limit = file.endsWith(QLatin1String(".h")) ? 200 : 400;
        if (lines > limit)
            qWarning("%s has %lld lines; above %lld it asks for a split", qPrintable(file), (long long)lines,
                     (long long)limit);
        QVERIFY2(lines <= limit * 3 / 2, qPrintable(file));
    }
}

QTEST_GUILESS_MAIN(TestLayering)
#include "tst_layering.moc"

#include "engine/harness/linesplitter.h"

#include <QElapsedTimer>
#include <QTest>

using namespace engine;

class TestLineSplitter : public QObject
{
    Q_OBJECT

private slots:
    void splitsAndCounts();
    void carriageReturns();
    void sizes_data();
    void sizes();
    void bytewise();
    void bytewiseIsLinear();
    void oversizeIsMarkedAndSkipped();
    void restAndReset();
};

void TestLineSplitter::splitsAndCounts()
{
    LineSplitter splitter;
    const QList<SplitLine> lines = splitter.feed("a\n\nbc\nd");
    QCOMPARE(lines, (QList<SplitLine>{{"a", 2, false}, {"", 3, false}, {"bc", 6, false}}));
    QCOMPARE(splitter.rest(), QByteArray("d"));
    QCOMPARE(splitter.feed("e\n"), (QList<SplitLine>{{"de", 9, false}}));
    QCOMPARE(splitter.rest(), QByteArray());
}

void TestLineSplitter::carriageReturns()
{
    LineSplitter splitter;
    QCOMPARE(splitter.feed("a\r"), QList<SplitLine>{});
    QCOMPARE(splitter.feed("\nb\rc\r\n"), (QList<SplitLine>{{"a", 3, false}, {"b\rc", 8, false}}));
}

void TestLineSplitter::sizes_data()
{
    QTest::addColumn<qsizetype>("size");
    QTest::newRow("64 KiB - 1") << qsizetype(65535);
    QTest::newRow("64 KiB") << qsizetype(65536);
    QTest::newRow("1 MiB + 1") << qsizetype(1024 * 1024 + 1);
    QTest::newRow("43 MiB") << qsizetype(43) * 1024 * 1024;
}

void TestLineSplitter::sizes()
{
    QFETCH(qsizetype, size);
    LineSplitter splitter;
    const QByteArray line(size, 'x');
    const QByteArray stream = line + "\nnext\n";
    QList<SplitLine> lines;
    for (qsizetype at = 0; at < stream.size(); at += 65536)
        lines += splitter.feed(stream.mid(at, 65536));
    QCOMPARE(lines.size(), 2);
    QVERIFY(lines.at(0).bytes == line);
    QVERIFY(!lines.at(0).oversize);
    QCOMPARE(lines.at(0).endOffset, quint64(size + 1));
    QCOMPARE(lines.at(1).bytes, QByteArray("next"));
}

void TestLineSplitter::bytewise()
{
    const QByteArray stream = QStringLiteral("{\"a\":\"\u00e9\u4e2d\\ud83d\\ude00\"}\r\n\n{\"b\":1}\nrest").toUtf8();
    LineSplitter whole;
    LineSplitter single;
    QList<SplitLine> lines;
    for (const char byte : stream)
        lines += single.feed(QByteArray(1, byte));
    QCOMPARE(lines, whole.feed(stream));
    QCOMPARE(single.rest(), whole.rest());
}

void TestLineSplitter::bytewiseIsLinear()
{
    // A scan from the line's beginning at each byte would take 10^12 steps here.
    LineSplitter splitter;
    QElapsedTimer timer;
    timer.start();
    const QByteArray byte(1, 'x');
    for (int i = 0; i < 2'000'000; ++i)
        QVERIFY(splitter.feed(byte).isEmpty());
    QVERIFY2(timer.elapsed() < 20000, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(splitter.feed("\n").first().bytes.size(), 2'000'000);
}

void TestLineSplitter::oversizeIsMarkedAndSkipped()
{
    LineSplitter splitter(100'000);
    QList<SplitLine> lines = splitter.feed(QByteArray(150'000, 'y'));
    QCOMPARE(lines.size(), 0);
    lines += splitter.feed(QByteArray(500'000, 'z') + "\nafter\n");
    QCOMPARE(lines.size(), 2);
    QVERIFY(lines.at(0).oversize);
    QCOMPARE(lines.at(0).bytes, QByteArray(LineSplitter::keptOfOversize, 'y'));
    QCOMPARE(lines.at(0).endOffset, quint64(650'001));
    QCOMPARE(lines.at(1), (SplitLine{"after", 650'007, false}));
    QCOMPARE(LineSplitter::defaultCap, qsizetype(64) * 1024 * 1024);
}

void TestLineSplitter::restAndReset()
{
    LineSplitter splitter;
    splitter.feed("half");
    splitter.reset(1000);
    QCOMPARE(splitter.rest(), QByteArray());
    QCOMPARE(splitter.feed("x\n"), (QList<SplitLine>{{"x", 1002, false}}));
}

QTEST_GUILESS_MAIN(TestLineSplitter)
#include "tst_linesplitter.moc"

// What a reviewer sees must be what runs: hidden, turning, controlling and look-alike characters appear as tokens.
#include "models/visibletext.h"

#include <QTest>

using models::Mark;
using models::visibleText;

class TestVisibleText final : public QObject
{
    Q_OBJECT

private slots:
    void plainTextStaysAsItIs_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("command") << QStringLiteral("ls -la && echo \"done\" | grep -v x");
        QTest::newRow("lines and tabs") << QStringLiteral("a\n\tb\nc");
        QTest::newRow("empty") << QString();
        QTest::newRow("umlauts") << QStringLiteral("Größe für Ärzte");
        QTest::newRow("chinese") << QStringLiteral("刪除資料夾");
    }
    void plainTextStaysAsItIs()
    {
        QFETCH(QString, text);
        const models::VisibleText shown = visibleText(text);
        QCOMPARE(shown.text, text);
        QVERIFY(shown.isPlain());
    }
    void hiddenCharactersAreTokens_data()
    {
        QTest::addColumn<char32_t>("character");
        for (const char32_t c : {0x200Bu, 0x200Cu, 0x200Du, 0x2060u, 0xFEFFu, 0x00ADu, 0x034Fu, 0x180Eu, 0x202Au, 0x202Bu, 0x202Du, 0x202Eu,
                                 0x202Cu, 0x2066u, 0x2067u, 0x2068u, 0x2069u, 0x200Eu, 0x200Fu, 0x061Cu, 0x0000u, 0x0007u, 0x0008u, 0x001Bu,
                                 0x000Du, 0x007Fu, 0x0085u, 0x009Bu, 0xE0001u, 0xE0041u, 0xFE0Fu, 0x2028u, 0x2029u, 0x115Fu, 0x3164u})
            QTest::newRow(qPrintable(QString::number(c, 16))) << char32_t(c);
    }
    void hiddenCharactersAreTokens()
    {
        QFETCH(char32_t, character);
        // Not by fromUcs4() alone, which takes a leading U+FEFF for a byte order mark.
        const QString wrapped = character < 0x10000 ? QString(QChar(ushort(character))) : QString::fromUcs4(&character, 1);
        const QString hostile = QStringLiteral("rm ") + wrapped + QStringLiteral("-rf x");
        const models::VisibleText shown = visibleText(hostile);
        QCOMPARE(shown.marks.size(), 1);
        QVERIFY2(shown.text.contains(QString::number(character, 16).toUpper()), qPrintable(shown.text));
        QVERIFY(shown.text.startsWith(QStringLiteral("rm ")) && shown.text.endsWith(QStringLiteral("-rf x")));
        QVERIFY(!shown.text.contains(wrapped));
        const Mark &mark = shown.marks.first();
        QVERIFY(mark.start >= 0 && mark.start + mark.length <= shown.text.size());
    }
    void lookAlikesAreMarked()
    {
        // Cyrillic а and о inside Latin words.
        const models::VisibleText shown = visibleText(QString::fromUtf8("curl https://p\xd0\xb0ypal.c\xd0\xbem"));
        QVERIFY(!shown.isPlain());
        for (const Mark &mark : shown.marks)
            QVERIFY(mark.kind == Mark::Kind::LookAlike);
    }
    void brokenTextIsMarked()
    {
        const QString lone = QString(QChar(0xD800)) + QStringLiteral("x");
        QVERIFY(!visibleText(lone).isPlain());
    }
};

QTEST_GUILESS_MAIN(TestVisibleText)
#include "tst_visibletext.moc"

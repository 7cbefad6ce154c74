#include "sandbox/protocol/bytes.h"
#include "sandbox/protocol/frames.h"
#include "sandbox/protocol/messages.h"

#include <QRandomGenerator>
#include <QTest>

using namespace sandbox;

class TestFrames : public QObject
{
    Q_OBJECT

private slots:
    void bytewise();
    void manyInOneRead();
    void truncated();
    void oversized();
    void capIsExact();
    void unknownType();
    void garbage();
    void claimedLengthAllocatesNothing();
    void payloadsSurviveRoundTrip();
    void cutPayloadsAreRefused();
    void lyingCountsAreRefused();
    void otherVersionIsReadable();
};

static std::string sample()
{
    std::string bytes;
    appendFrame(bytes, FrameType::Ping, ByteWriter().u64(7).bytes());
    appendFrame(bytes, FrameType::Kill, {});
    appendFrame(bytes, FrameType::Input, InputPayload::encodeHead("id-1"), std::string(1000, '\0'));
    return bytes;
}

static QStringList drain(FrameDecoder &decoder)
{
    QStringList seen;
    Frame frame;
    while (decoder.next(frame) == FrameDecoder::Step::Ready)
        seen.append(QStringLiteral("%1:%2").arg(int(frame.type)).arg(frame.payload.size()));
    return seen;
}

void TestFrames::bytewise()
{
    FrameDecoder decoder(maxToWorkerBytes);
    QStringList seen;
    for (const char byte : sample()) {
        decoder.feed(std::string_view(&byte, 1));
        seen += drain(decoder);
    }
    QCOMPARE(seen, QStringList({QStringLiteral("9:8"), QStringLiteral("7:0"), QStringLiteral("3:1008")}));
}

void TestFrames::manyInOneRead()
{
    std::string bytes;
    for (int i = 0; i < 1000; ++i)
        bytes += sample();
    FrameDecoder decoder(maxToWorkerBytes);
    decoder.feed(bytes);
    QCOMPARE(drain(decoder).size(), 3000);
    decoder.feed(sample());
    QCOMPARE(drain(decoder).size(), 3);
}

void TestFrames::truncated()
{
    const std::string bytes = sample();
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        FrameDecoder decoder(maxToWorkerBytes);
        decoder.feed(std::string_view(bytes).substr(0, cut));
        QStringList seen = drain(decoder);
        Frame frame;
        QCOMPARE(decoder.next(frame), FrameDecoder::Step::NeedMore);
        decoder.feed(std::string_view(bytes).substr(cut));
        seen += drain(decoder);
        QCOMPARE(seen.size(), 3);
    }
}

void TestFrames::oversized()
{
    FrameDecoder decoder(100);
    decoder.feed(makeFrame(FrameType::Input, std::string(101, 'x')));
    Frame frame;
    QCOMPARE(decoder.next(frame), FrameDecoder::Step::Broken);
    QVERIFY(decoder.error().find("101") != std::string::npos);
    decoder.feed(makeFrame(FrameType::Kill));
    QCOMPARE(decoder.next(frame), FrameDecoder::Step::Broken); // for good
}

void TestFrames::capIsExact()
{
    FrameDecoder decoder(100);
    decoder.feed(makeFrame(FrameType::Input, std::string(100, 'x')));
    Frame frame;
    QCOMPARE(decoder.next(frame), FrameDecoder::Step::Ready);
    QCOMPARE(frame.payload.size(), std::size_t(100));
}

void TestFrames::unknownType()
{
    for (const int type : {0, 25, 32, 59, 255}) {
        FrameDecoder decoder(100);
        const std::string bytes{0, 0, 0, 0, static_cast<char>(type)};
        decoder.feed(bytes);
        Frame frame;
        QCOMPARE(decoder.next(frame), FrameDecoder::Step::Broken);
    }
}

void TestFrames::garbage()
{
    QRandomGenerator random(4711);
    for (int round = 0; round < 2000; ++round) {
        FrameDecoder decoder(4096);
        Frame frame;
        for (int piece = 0; piece < 8; ++piece) {
            std::string bytes(random.bounded(1, 300), '\0');
            for (char &byte : bytes)
                byte = static_cast<char>(random.bounded(256));
            decoder.feed(bytes);
            while (decoder.next(frame) == FrameDecoder::Step::Ready) {
                QVERIFY(frame.payload.size() <= 4096);
                HelloPayload hello;
                HelloPayload::decode(frame.payload, hello);
                LaunchPayload launch;
                LaunchPayload::decode(frame.payload, launch);
                WelcomePayload welcome;
                WelcomePayload::decode(frame.payload, welcome);
            }
        }
    }
}

void TestFrames::claimedLengthAllocatesNothing()
{
    // A thousand peers that claim 64 MiB each and send five bytes: 64 GB if the claim were believed.
    std::vector<FrameDecoder> decoders;
    for (int i = 0; i < 1000; ++i) {
        decoders.emplace_back(maxToWorkerBytes);
        decoders.back().feed(std::string{0, 0, 0, 4, 3});
        Frame frame;
        QCOMPARE(decoders.back().next(frame), FrameDecoder::Step::NeedMore);
    }
}

void TestFrames::payloadsSurviveRoundTrip()
{
    HelloPayload hello;
    hello.session = "sitzung-ü";
    hello.generation = 3;
    hello.epoch = 1ull << 40;
    hello.receivedOutput = ~0ull;
    hello.receivedError = 5;
    HelloPayload readHello;
    QVERIFY(HelloPayload::decode(hello.encode(), readHello));
    QCOMPARE(readHello.encode(), hello.encode());
    QCOMPARE(readHello.epoch, hello.epoch);

    LaunchPayload launch{{"/bin/x", "", "a\nb"}, {{"A", "1"}, {"B", ""}}, "/tmp", "/tmp/l"};
    LaunchPayload readLaunch;
    QVERIFY(LaunchPayload::decode(launch.encode(), readLaunch));
    QCOMPARE(readLaunch.argv, launch.argv);
    QVERIFY(readLaunch.environment == launch.environment);
    QCOMPARE(readLaunch.lockFile, launch.lockFile);

    WelcomePayload welcome;
    welcome.capabilities = {"approvals"};
    welcome.exited = true;
    welcome.exitCode = -1;
    welcome.pid = 77;
    welcome.oldestError = 9;
    WelcomePayload readWelcome;
    QVERIFY(WelcomePayload::decode(welcome.encode(), readWelcome));
    QCOMPARE(readWelcome.exitCode, -1);
    QCOMPARE(readWelcome.oldestError, std::uint64_t(9));
    QCOMPARE(readWelcome.encode(), welcome.encode());
}

void TestFrames::cutPayloadsAreRefused()
{
    HelloPayload hello;
    hello.session = "s";
    const std::string bytes = hello.encode();
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        HelloPayload read;
        QVERIFY(!HelloPayload::decode(std::string_view(bytes).substr(0, cut), read));
    }
    HelloPayload read;
    QVERIFY(!HelloPayload::decode(bytes + "x", read));
    std::string foreign = bytes;
    foreign[0] = 'X';
    QVERIFY(!HelloPayload::decode(foreign, read));
}

void TestFrames::lyingCountsAreRefused()
{
    LaunchPayload launch;
    QVERIFY(!LaunchPayload::decode(ByteWriter().u32(0xffffffff).text("a").bytes(), launch));
    QVERIFY(launch.argv.empty());
    InputPayload input;
    QVERIFY(!InputPayload::decode(ByteWriter().u32(0x7fffffff).rest("abc").bytes(), input));
    QVERIFY(!InputPayload::decode(ByteWriter().text("").rest("no id").bytes(), input));
}

void TestFrames::otherVersionIsReadable()
{
    HelloPayload read;
    QVERIFY(HelloPayload::decode(ByteWriter().u32(protocolMagic).u16(9).rest("whatever it holds").bytes(), read));
    QCOMPARE(read.version, std::uint16_t(9));
}

QTEST_APPLESS_MAIN(TestFrames)
#include "tst_frames.moc"

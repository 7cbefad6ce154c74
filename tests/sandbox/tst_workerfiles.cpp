#include "filebench.h"

#include <QElapsedTimer>
#include <QSignalSpy>
#include <atomic>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <thread>

using namespace sandbox;

// The file requests of a real worker (sandbox/README.md, Files): the storage side of B46 and B100.
class TestWorkerFiles : public QObject
{
    Q_OBJECT

private slots:
    void b100_listTellsEveryKind();
    void listOfSomePathsOnly();
    void hashesAreSha256_data();
    void hashesAreSha256();
    void readsManyPartsInOneRequest();
    void largeFileGoesBothWays();
    void droppedReaderCancels();
    void b100_writesModesLinksAndRemovals();
    void hostilePathsAreRefused_data();
    void hostilePathsAreRefused();
    void otherRootsAreRefused();
    void linksAreNeverFollowed();
    void swappedFolderNeverLeadsOut();
    void namesThatAreNoText();
    void unreadableFilesAreTold();
    void fileChangingWhileReadIsTold();
    void sparseAndHugeNames();
    void diskFullKeepsTheOldFile();
    void outputIsNotHeldUpByHashing();
    void closedChannelFailsRequests();
    void takenOverChannelLeavesNoTemporaryFile();
    void workerWithoutRootsOffersNothing();
    void hundredThousandFiles();
};

void TestWorkerFiles::b100_listTellsEveryKind()
{
    FileBench bench;
    bench.put(QStringLiteral("a/b.txt"), "hello");
    QDir().mkpath(bench.path(QStringLiteral("empty")));
    QVERIFY(QFile::link(QStringLiteral("/etc/passwd"), bench.path(QStringLiteral("link"))));
    QCOMPARE(::mkfifo(QFile::encodeName(bench.path(QStringLiteral("pipe"))).constData(), 0600), 0);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    qstrncpy(address.sun_path, QFile::encodeName(bench.path(QStringLiteral("sock"))).constData(),
             sizeof address.sun_path);
    QCOMPARE(::bind(socket, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    ::chmod(QFile::encodeName(bench.path(QStringLiteral("a/b.txt"))).constData(), 04751);
    const QStringList expected{QStringLiteral("d a"),    QStringLiteral("d empty"), QStringLiteral("f a/b.txt"),
                               QStringLiteral("l link"), QStringLiteral("s pipe"),  QStringLiteral("s sock")};
    QCOMPARE(bench.listed(), expected);
    const auto listing = bench.list();
    struct stat status
    {
    };
    QCOMPARE(::stat(QFile::encodeName(bench.path(QStringLiteral("a/b.txt"))).constData(), &status), 0);
    for (const FileEntry &entry : listing->entries) {
        if (entry.path == "link")
            QCOMPARE(entry.target, QByteArray("/etc/passwd"));
        if (entry.path == "pipe")
            QCOMPARE(entry.target, QByteArray("FIFO"));
        if (entry.path != "a/b.txt")
            continue;
        QCOMPARE(entry.status.mode, 04751u);
        QCOMPARE(entry.status.size, quint64(5));
        QCOMPARE(entry.status.inode, quint64(status.st_ino));
        QCOMPARE(entry.status.modified, status.st_mtim.tv_sec * 1'000'000'000ll + status.st_mtim.tv_nsec);
        QCOMPARE(entry.status.changed, status.st_ctim.tv_sec * 1'000'000'000ll + status.st_ctim.tv_nsec);
        QVERIFY(listing->clock >= entry.status.changed);
    }
    ::close(socket);
}

void TestWorkerFiles::listOfSomePathsOnly()
{
    FileBench bench;
    bench.put(QStringLiteral("a/1"), "1");
    bench.put(QStringLiteral("a/2"), "2");
    bench.put(QStringLiteral("b"), "3");
    const QStringList expected{QStringLiteral("d a"), QStringLiteral("f a/1"), QStringLiteral("f a/2")};
    QCOMPARE(bench.listed({"a", "none/such"}), expected);
    QCOMPARE(bench.listed({"b"}), QStringList{QStringLiteral("f b")});
    QCOMPARE(bench.listed({"../x"}), QStringList{QStringLiteral("x ../x")});
}

void TestWorkerFiles::hashesAreSha256_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("empty") << QByteArray()
                           << QByteArray("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    QTest::newRow("abc") << QByteArray("abc")
                         << QByteArray("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    QTest::newRow("million a") << QByteArray(1'000'000, 'a')
                               << QByteArray("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

void TestWorkerFiles::hashesAreSha256()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, expected);
    FileBench bench;
    bench.put(QStringLiteral("x"), bytes);
    const FileResult result = bench.hash("x");
    QVERIFY2(result.isOk(), qPrintable(result.reason));
    QCOMPARE(result.hash.toHex(), expected);
    QCOMPARE(result.status.size, quint64(bytes.size()));
}

void TestWorkerFiles::readsManyPartsInOneRequest()
{
    FileBench bench;
    QList<FilePart> parts;
    for (int i = 0; i < 10; ++i) {
        bench.put(QString::number(i), QByteArray(i * 100, char('a' + i)));
        parts.append({QByteArray::number(i), 0, ~quint64(0)});
    }
    parts.append({"3", 100, 50});
    parts.append({"none", 0, 10});
    parts.append({"9", 5000, 10});
    const quint64 before = bench.files().statistics().requests;
    const auto read = bench.read(parts);
    QVERIFY(read);
    QCOMPARE(bench.files().statistics().requests - before, quint64(1));
    for (int i = 0; i < 10; ++i) {
        QVERIFY2(read->results[i].isOk(), qPrintable(read->results[i].reason));
        QCOMPARE(read->bytes[i], QByteArray(i * 100, char('a' + i)));
    }
    QCOMPARE(read->bytes[10], QByteArray(50, 'd'));
    QVERIFY(read->results[11].failure == FileFailure::Absent);
    QVERIFY(read->results[12].isOk());
    QCOMPARE(read->bytes[12], QByteArray());
}

void TestWorkerFiles::largeFileGoesBothWays()
{
    FileBench bench;
    QByteArray bytes(30 * 1024 * 1024 + 7, Qt::Uninitialized);
    for (qsizetype i = 0; i < bytes.size(); ++i)
        bytes[i] = char((i * 2654435761u) >> 13);
    const FileResult written = bench.write("deep.bin", bytes, 0640);
    QVERIFY2(written.isOk(), qPrintable(written.reason));
    QCOMPARE(written.status.mode, 0640u);
    QCOMPARE(bench.get(QStringLiteral("deep.bin")), bytes);
    const auto read = bench.read({{"deep.bin", 0, ~quint64(0)}});
    QVERIFY(read);
    QCOMPARE(read->bytes.first(), bytes);
    QCOMPARE(bench.hash("deep.bin").hash, sha256(bytes));
}

void TestWorkerFiles::droppedReaderCancels()
{
    FileBench bench;
    bench.put(QStringLiteral("big"), QByteArray(20 * 1024 * 1024, 'x'));
    for (int i = 0; i < 40; ++i) { // more than may be open at once
        auto reader = bench.files().read(bench.root, {{"big", 0, ~quint64(0)}});
        QVERIFY(QCoro::waitFor(reader->next()));
    }
    QVERIFY(bench.hash("big").isOk());
    QVERIFY(bench.heard.closed.isEmpty());
}

void TestWorkerFiles::b100_writesModesLinksAndRemovals()
{
    FileBench bench;
    QVERIFY(bench.change({ChangeKind::MakeFolder, "d", 0750, {}}) == FileFailure::None);
    QVERIFY(bench.change({ChangeKind::MakeFolder, "d", 0700, {}}) == FileFailure::None);
    QVERIFY(bench.write("d/f", "one", 0755).isOk());
    QVERIFY(bench.write("d/f", "two", 0600).isOk());
    QVERIFY(bench.write("d/empty", "").isOk());
    QVERIFY(bench.change({ChangeKind::MakeLink, "d/l", 0, "../elsewhere"}) == FileFailure::None);
    QVERIFY(bench.change({ChangeKind::MakeLink, "d/l", 0, "f"}) == FileFailure::None);
    QVERIFY(bench.change({ChangeKind::SetMode, "d/f", 0444, {}}) == FileFailure::None);
    QVERIFY(bench.change({ChangeKind::SetMode, "d/l", 0444, {}}) == FileFailure::Refused);
    QVERIFY(bench.change({ChangeKind::MakeFolder, "d/f", 0755, {}}) == FileFailure::Refused);
    QCOMPARE(bench.get(QStringLiteral("d/f")), QByteArray("two"));
    QCOMPARE(bench.get(QStringLiteral("d/empty")), QByteArray());
    QCOMPARE(QFileInfo(bench.path(QStringLiteral("d/l"))).symLinkTarget(), bench.path(QStringLiteral("d/f")));
    struct stat status
    {
    };
    ::stat(QFile::encodeName(bench.path(QStringLiteral("d/f"))).constData(), &status);
    QCOMPARE(int(status.st_mode & 07777), 0444);
    bench.put(QStringLiteral("d/x/y/z"), "z");
    ::chmod(QFile::encodeName(bench.path(QStringLiteral("d/x/y"))).constData(), 0);
    QVERIFY(bench.change({ChangeKind::Remove, "d", 0, {}}) == FileFailure::None);
    QVERIFY(bench.change({ChangeKind::Remove, "d", 0, {}}) == FileFailure::None);
    QVERIFY(bench.change({ChangeKind::Remove, "none/such", 0, {}}) == FileFailure::None);
    QCOMPARE(bench.listed(), QStringList());
}

void TestWorkerFiles::hostilePathsAreRefused_data()
{
    QTest::addColumn<QByteArray>("path");
    for (const char *path : {"..", "../x", "a/../../x", "/etc/passwd", "", ".", "a//b", "a/", "./a", "a/./b"})
        QTest::newRow(path) << QByteArray(path);
    QTest::newRow("nul") << QByteArray("a\0b", 3);
}

void TestWorkerFiles::hostilePathsAreRefused()
{
    QFETCH(QByteArray, path);
    FileBench bench;
    bench.put(QStringLiteral("a/b"), "inside");
    QFile outside(bench.bench.folder.filePath(QStringLiteral("x")));
    QVERIFY(outside.open(QIODevice::WriteOnly));
    QVERIFY(bench.hash(path).failure == FileFailure::Refused);
    QVERIFY(bench.write(path, "new").failure == FileFailure::Refused);
    const auto read = bench.read({{path, 0, 10}});
    QVERIFY(read && read->results.first().failure == FileFailure::Refused);
    QVERIFY(bench.change({ChangeKind::Remove, path, 0, {}}) == FileFailure::Refused);
    QVERIFY(bench.change({ChangeKind::MakeLink, path, 0, "t"}) == FileFailure::Refused);
    QVERIFY(outside.exists());
    QCOMPARE(bench.get(QStringLiteral("a/b")), QByteArray("inside"));
    QVERIFY(bench.heard.closed.isEmpty());
}

void TestWorkerFiles::otherRootsAreRefused()
{
    FileBench bench;
    for (const QString &root : QStringList{QStringLiteral("/etc"), QStringLiteral("/"), QString(), bench.root + u"x",
                                bench.root + u"/..", bench.bench.folder.path(), QStringLiteral("workspace")}) {
        const auto listing = QCoro::waitFor(bench.files().list(root, {}));
        QVERIFY(!listing);
        QVERIFY2(listing.error().failure == Failure::Refused, qPrintable(listing.error().message));
    }
    const auto absent = QCoro::waitFor(bench.files().list(bench.root + u"/none", {}));
    QVERIFY(!absent && absent.error().failure == Failure::Absent);
    QVERIFY(QCoro::waitFor(bench.files().change(bench.root + u"/none/two", {{ChangeKind::MakeFolder, "", 0755, {}}})));
    QVERIFY(QFileInfo(bench.path(QStringLiteral("none/two"))).isDir());
}

void TestWorkerFiles::linksAreNeverFollowed()
{
    FileBench bench;
    const QString outside = bench.bench.folder.filePath(QStringLiteral("outside"));
    QDir().mkpath(outside);
    QFile secret(outside + u"/secret");
    QVERIFY(secret.open(QIODevice::WriteOnly));
    secret.write("secret");
    secret.close();
    QVERIFY(QFile::link(outside, bench.path(QStringLiteral("way"))));
    QVERIFY(QFile::link(secret.fileName(), bench.path(QStringLiteral("direct"))));
    const QStringList expected{QStringLiteral("l direct"), QStringLiteral("l way")};
    QCOMPARE(bench.listed(), expected);
    QVERIFY(bench.hash("way/secret").failure == FileFailure::Refused);
    QVERIFY(bench.hash("direct").failure == FileFailure::Refused);
    QVERIFY(bench.write("way/new", "x").failure == FileFailure::Refused);
    QVERIFY(bench.change({ChangeKind::Remove, "way/secret", 0, {}}) == FileFailure::Refused);
    const auto through = QCoro::waitFor(bench.files().list(bench.root + u"/way", {}));
    QVERIFY(!through && through.error().failure == Failure::Refused);
    // Writing over a link replaces the link itself, removing it removes the link.
    QVERIFY(bench.write("direct", "mine").isOk());
    QVERIFY(bench.change({ChangeKind::Remove, "way", 0, {}}) == FileFailure::None);
    QVERIFY(secret.open(QIODevice::ReadOnly));
    QCOMPARE(secret.readAll(), QByteArray("secret"));
    QCOMPARE(bench.get(QStringLiteral("direct")), QByteArray("mine"));
}

void TestWorkerFiles::swappedFolderNeverLeadsOut()
{
    FileBench bench;
    const QString outside = bench.bench.folder.filePath(QStringLiteral("outside"));
    QDir().mkpath(outside);
    QFile secret(outside + u"/f");
    QVERIFY(secret.open(QIODevice::WriteOnly));
    secret.write("secret");
    secret.close();
    bench.put(QStringLiteral("real/f"), "inside");
    const QByteArray real = QFile::encodeName(bench.path(QStringLiteral("real")));
    const QByteArray link = QFile::encodeName(bench.path(QStringLiteral("link")));
    QCOMPARE(::symlink(QFile::encodeName(outside).constData(), link.constData()), 0);
    std::atomic<bool> stop = false;
    std::thread swapper([&] {
        while (!stop)
            ::syscall(SYS_renameat2, AT_FDCWD, real.constData(), AT_FDCWD, link.constData(), 2 /* RENAME_EXCHANGE */);
    });
    int inside = 0, refused = 0;
    for (int round = 0; round < 400; ++round) {
        const FileResult hashed = bench.hash("real/f");
        if (hashed.isOk()) {
            QCOMPARE(hashed.hash, sha256("inside"));
            ++inside;
        } else {
            QVERIFY2(hashed.failure == FileFailure::Refused, qPrintable(hashed.reason));
            ++refused;
        }
        (void)bench.write("real/new", "x");
    }
    stop = true;
    swapper.join();
    QVERIFY(!QFile::exists(outside + u"/new"));
    QVERIFY2(inside > 0 && refused > 0, "the race was not met");
}

void TestWorkerFiles::namesThatAreNoText()
{
    FileBench bench;
    const QByteArray name("caf\xe9 \n\x01\xff", 8);
    QVERIFY(bench.write(name, "bytes").isOk());
    const auto listing = bench.list();
    QCOMPARE(listing->entries.size(), 1);
    QCOMPARE(listing->entries.first().path, name);
    QCOMPARE(bench.hash(name).hash, sha256("bytes"));
    QVERIFY(bench.change({ChangeKind::MakeLink, "l\xfe", 0, "t\xfd"}) == FileFailure::None);
    QCOMPARE(bench.list({"l\xfe"})->entries.first().target, QByteArray("t\xfd"));
}

void TestWorkerFiles::unreadableFilesAreTold()
{
    // A file whose reading fails for everybody, also for root.
    const QString process = QStringLiteral("/proc/%1").arg(::getpid());
    FileBench bench({process});
    const auto results = QCoro::waitFor(bench.files().hash(process, {"mem", "status", "none"}));
    QVERIFY(results);
    QVERIFY(results->at(0).failure == FileFailure::System);
    QVERIFY2(results->at(0).reason.contains(QLatin1String("mem")), qPrintable(results->at(0).reason));
    QVERIFY(results->at(2).failure == FileFailure::Absent);
    if (::geteuid() == 0)
        return;
    bench.put(QStringLiteral("closed/f"), "x");
    bench.put(QStringLiteral("own"), "x");
    ::chmod(QFile::encodeName(bench.path(QStringLiteral("own"))).constData(), 0);
    ::chmod(QFile::encodeName(bench.path(QStringLiteral("closed"))).constData(), 0);
    const QStringList expected{QStringLiteral("d closed"), QStringLiteral("f own"), QStringLiteral("x closed")};
    QCOMPARE(bench.listed(), expected);
    QVERIFY(bench.hash("own").failure == FileFailure::System);
    ::chmod(QFile::encodeName(bench.path(QStringLiteral("closed"))).constData(), 0700);
}

void TestWorkerFiles::fileChangingWhileReadIsTold()
{
    FileBench bench;
    bench.put(QStringLiteral("growing"), QByteArray(8 * 1024 * 1024, 'a'));
    auto reader = bench.files().read(bench.root, {{"growing", 0, ~quint64(0)}});
    const auto first = QCoro::waitFor(reader->next());
    QVERIFY(first && *first && (*first)->bytes.size() > 0);
    // At most the window is under way, so the end is not yet read.
    QFile file(bench.path(QStringLiteral("growing")));
    QVERIFY(file.open(QIODevice::Append));
    file.write("more");
    file.close();
    std::optional<FileResult> end;
    while (!end) {
        const auto chunk = QCoro::waitFor(reader->next());
        QVERIFY(chunk && *chunk);
        end = (*chunk)->end;
    }
    QVERIFY2(end->failure == FileFailure::Changed, qPrintable(end->reason));
}

void TestWorkerFiles::sparseAndHugeNames()
{
    FileBench bench;
    const QByteArray longest(255, 'n');
    QVERIFY(bench.write(longest, "x").isOk());
    QVERIFY(!bench.write(longest + "n", "x").isOk());
    QFile sparse(bench.path(QStringLiteral("sparse")));
    QVERIFY(sparse.open(QIODevice::WriteOnly) && sparse.resize(64ll * 1024 * 1024));
    sparse.close();
    QCOMPARE(bench.hash("sparse").hash, sha256(QByteArray(64 * 1024 * 1024, '\0')));
    QByteArray deep;
    for (int i = 0; i < 30; ++i) {
        deep += (i ? "/" : "") + QByteArray(200, char('a' + i % 26));
        QVERIFY(bench.change({ChangeKind::MakeFolder, deep, 0755, {}}) == FileFailure::None);
    }
    QVERIFY(bench.write(deep + "/f", "deep").isOk()); // longer than the system takes in one call
    QCOMPARE(bench.hash(deep + "/f").hash, sha256("deep"));
    QCOMPARE(bench.list()->entries.size(), 33);
    QVERIFY(bench.change({ChangeKind::Remove, deep.left(200), 0, {}}) == FileFailure::None);
    QCOMPARE(bench.list()->entries.size(), 2);
}

void TestWorkerFiles::diskFullKeepsTheOldFile()
{
    QTemporaryDir small;
    const QByteArray path = QFile::encodeName(small.path());
    if (::mount("none", path.constData(), "tmpfs", 0, "size=1m") != 0)
        QSKIP("a small file system can only be mounted by root");
    {
        FileBench bench({small.path()});
        const auto written = QCoro::waitFor(
            FileBench::writeOne(bench.files().write(), small.path(), "f", "old", 0644));
        QVERIFY(written && written->first().isOk());
        const auto full = QCoro::waitFor(FileBench::writeOne(bench.files().write(), small.path(), "f",
                                                             QByteArray(6 * 1024 * 1024, 'x'), 0644));
        QVERIFY(full);
        QVERIFY2(full->first().failure == FileFailure::Full, qPrintable(full->first().reason));
        QFile file(small.filePath(QStringLiteral("f")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("old"));
        QCOMPARE(QDir(small.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).size(), 1);
    }
    ::umount2(path.constData(), MNT_DETACH);
}

void TestWorkerFiles::outputIsNotHeldUpByHashing()
{
    FileBench bench;
    QFile big(bench.path(QStringLiteral("big")));
    QVERIFY(big.open(QIODevice::WriteOnly) && big.resize(1024ll * 1024 * 1024));
    big.close();
    bench.channel->launch(shell(QStringLiteral("exec cat")));
    EVENTUALLY(bench.heard.launches.size() == 1);
    auto hashing = bench.files().hash(bench.root, {"big"});
    bool done = false;
    auto waiting = std::move(hashing).then([&done](const Result<QList<FileResult>> &) { done = true; });
    qint64 worst = 0;
    int echoes = 0;
    while (!done) {
        QElapsedTimer timer;
        timer.start();
        QSignalSpy echoed(bench.channel.get(), &Channel::received);
        bench.channel->send(QString::number(echoes), "x\n");
        QVERIFY(echoed.wait(20000));
        worst = qMax(worst, timer.elapsed());
        ++echoes;
    }
    qInfo("while 1 GB was hashed: %d echoes, the slowest took %lld ms", echoes, (long long)worst);
    QVERIFY(echoes > 5);
    QVERIFY2(worst < 100, "an echo waited for the hashing");
}

void TestWorkerFiles::closedChannelFailsRequests()
{
    FileBench bench;
    bench.put(QStringLiteral("f"), QByteArray(20 * 1024 * 1024, 'x'));
    auto reader = bench.files().read(bench.root, {{"f", 0, ~quint64(0)}});
    QVERIFY(QCoro::waitFor(reader->next()));
    ::kill(pid_t(bench.bench.files(bench.computer).workerPid()), SIGKILL);
    Result<std::optional<FileChunk>> chunk = std::optional<FileChunk>(FileChunk());
    while (chunk && *chunk)
        chunk = QCoro::waitFor(reader->next());
    QVERIFY(!chunk);
    QVERIFY(chunk.error().failure == Failure::Unreachable);
    const auto later = bench.list();
    QVERIFY(!later && later.error().failure == Failure::Unreachable);
}

void TestWorkerFiles::takenOverChannelLeavesNoTemporaryFile()
{
    FileBench bench;
    auto writer = bench.files().write();
    NewFile file;
    file.root = bench.root;
    file.path = "f";
    file.size = 1000;
    QVERIFY(QCoro::waitFor(writer->begin(file)));
    QVERIFY(QCoro::waitFor(writer->write("half")));
    EVENTUALLY(bench.listed().value(0).startsWith(QLatin1String("f .signalbox-put-")));
    bench.reopen(2);
    QCOMPARE(bench.listed(), QStringList());
    QVERIFY(!QCoro::waitFor(writer->finish()));
}

void TestWorkerFiles::workerWithoutRootsOffersNothing()
{
    WorkerBench bench;
    const auto channel = bench.open(bench.ensure(), 1);
    QVERIFY(channel);
    QVERIFY(!channel->files());
}

void TestWorkerFiles::hundredThousandFiles()
{
    FileBench bench;
    for (int folder = 0; folder < 100; ++folder) {
        const QByteArray path = QFile::encodeName(bench.path(QString::number(folder)));
        QCOMPARE(::mkdir(path.constData(), 0755), 0);
        for (int i = 0; i < 1000; ++i)
            ::close(::open(QByteArray(path + '/' + QByteArray::number(i)).constData(), O_CREAT | O_WRONLY, 0644));
    }
    QElapsedTimer timer;
    timer.start();
    const auto listing = bench.list();
    QVERIFY(listing);
    QCOMPARE(listing->entries.size(), 100'100);
    qInfo("100,000 files were listed in %lld ms", (long long)timer.elapsed());
}

QTEST_GUILESS_MAIN(TestWorkerFiles)
#include "tst_workerfiles.moc"

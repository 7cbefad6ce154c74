#include "teststore.h"

#include "engine/store/instancelock.h"

#include <QFile>
#include <sys/wait.h>
#include <unistd.h>

using namespace engine;

class TestInstanceLock : public QObject
{
    Q_OBJECT

private slots:
    void aSecondInstanceIsRefusedByName();
    void theLockEndsWithItsOwner();
    void theLockEndsWithItsProcess();
    void aFileInPlaceOfTheFolderIsRefused();
};

void TestInstanceLock::aSecondInstanceIsRefusedByName()
{
    QTemporaryDir folder;
    const auto first = InstanceLock::acquire(folder.path());
    VERIFY_OK(first);
    const auto second = InstanceLock::acquire(folder.path());
    VERIFY_FAILS(second, ErrorCode::StorageBusy);
    QVERIFY(second.error().message.contains(QString::number(::getpid())));
    QVERIFY(second.error().message.contains(folder.path()));
    QVERIFY(second.error().message.contains(QLatin1String("choose another data folder")));
    VERIFY_OK(InstanceLock::acquire(folder.filePath(QStringLiteral("other"))));
}

void TestInstanceLock::theLockEndsWithItsOwner()
{
    QTemporaryDir folder;
    {
        auto first = InstanceLock::acquire(folder.path());
        VERIFY_OK(first);
        InstanceLock moved = std::move(*first);
        VERIFY_FAILS(InstanceLock::acquire(folder.path()), ErrorCode::StorageBusy);
    }
    VERIFY_OK(InstanceLock::acquire(folder.path()));
}

void TestInstanceLock::theLockEndsWithItsProcess()
{
    QTemporaryDir folder;
    int ready[2], hold[2];
    QCOMPARE(::pipe(ready), 0);
    QCOMPARE(::pipe(hold), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto lock = InstanceLock::acquire(folder.path());
        const char answer = lock ? 'y' : 'n';
        char end = 0;
        ::close(hold[1]);
        if (::write(ready[1], &answer, 1) == 1)
            (void)!::read(hold[0], &end, 1);
        ::_exit(0);
    }
    char answer = 0;
    QCOMPARE(::read(ready[0], &answer, 1), ssize_t(1));
    QCOMPARE(answer, 'y');
    const auto refused = InstanceLock::acquire(folder.path());
    VERIFY_FAILS(refused, ErrorCode::StorageBusy);
    QVERIFY(refused.error().message.contains(QString::number(child)));
    ::kill(child, SIGKILL);
    QCOMPARE(::waitpid(child, nullptr, 0), child);
    VERIFY_OK(InstanceLock::acquire(folder.path()));
    for (const int descriptor : {ready[0], ready[1], hold[0], hold[1]})
        ::close(descriptor);
}

void TestInstanceLock::aFileInPlaceOfTheFolderIsRefused()
{
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("file")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    const auto refused = InstanceLock::acquire(file.fileName());
    VERIFY_FAILS(refused, ErrorCode::StorageUnavailable);
    QVERIFY(refused.error().message.contains(file.fileName()));
}

QTEST_GUILESS_MAIN(TestInstanceLock)
#include "tst_instancelock.moc"

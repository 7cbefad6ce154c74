#include "sandbox/host/programrun.h"

namespace sandbox {

ProgramRun::ProgramRun(const QString &program, const QStringList &arguments, std::chrono::milliseconds limit)
{
    m_promise.start();
    m_limit.setSingleShot(true);
    QObject::connect(&m_limit, &QTimer::timeout, &m_process, &QProcess::kill);
    QObject::connect(&m_process, &QProcess::finished, &m_process, [this] { finish(); });
    QObject::connect(&m_process, &QProcess::errorOccurred, &m_process, [this] { finish(); });
    QProcessEnvironment environment;
    environment.insert(QStringLiteral("PATH"), QStringLiteral("/usr/bin:/bin")); // a wholly empty one would inherit
    m_process.setProcessEnvironment(environment);
    m_process.setStandardInputFile(QProcess::nullDevice());
    m_process.start(program, arguments);
    m_limit.start(limit);
}

void ProgramRun::finish()
{
    if (!m_promise.future().isFinished())
        m_promise.finish();
}

int ProgramRun::exitCode() const
{
    const bool ran = m_process.exitStatus() == QProcess::NormalExit && m_process.error() == QProcess::UnknownError;
    return ran ? m_process.exitCode() : -1;
}

QString ProgramRun::complaint()
{
    const QString said = QString::fromLocal8Bit(m_process.readAllStandardError()).trimmed();
    return said.isEmpty() ? m_process.errorString() : said;
}

} // namespace sandbox

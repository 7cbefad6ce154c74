#include "sandbox/docker/imagebuilder.h"

#include "sandbox/docker/jsonlines.h"
#include "sandbox/docker/tarfile.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryFile>
#include <nlohmann/json.hpp>

namespace sandbox {

namespace {

using nlohmann::json;

constexpr auto dockerfilePath = ":/agentimage/Dockerfile";
constexpr qsizetype keptTail = 8 * 1024;

tl::unexpected<Error> buildFailure(const QString &message, const QString &detail = {})
{
    return tl::unexpected<Error>(Error{Failure::Refused, message, detail});
}

// Reads what the engine prints of an import or a build; the status of the HTTP reply says nothing of its end.
class BuildLog
{
public:
    explicit BuildLog(ImageBuilder::OnProgress progress) : m_progress(std::move(progress)) {}

    void take(const QByteArray &bytes)
    {
        for (const QByteArray &line : m_lines.feed(bytes))
            takeLine(line);
    }

    QString error() const { return m_error; }
    QString imageId() const { return m_imageId; }
    QString tail() const { return m_tail; }

private:
    void takeLine(const QByteArray &line)
    {
        const json parsed = json::parse(line.begin(), line.end(), nullptr, false);
        if (!parsed.is_object())
            return;
        const auto text = [&parsed](const char *key) {
            const auto at = parsed.find(key);
            return at != parsed.end() && at->is_string() ? QString::fromStdString(at->get<std::string>()) : QString();
        };
        if (parsed.contains("aux") && parsed["aux"].is_object())
            m_imageId = QString::fromStdString(parsed["aux"].value("ID", ""));
        if (parsed.contains("errorDetail") || parsed.contains("error"))
            m_error = text("error");
        QString output = text("stream");
        const QString status = text("status");
        if (status.startsWith(QLatin1String("sha256:")))
            m_imageId = status;
        else if (!status.isEmpty())
            output += text("id") + (text("id").isEmpty() ? QString() : QStringLiteral(": ")) + status + u'\n';
        if (output.isEmpty())
            return;
        if (output.startsWith(QLatin1String("Step ")))
            m_step = output.trimmed();
        m_tail = QString(m_tail + output).right(keptTail);
        m_progress({m_step.isEmpty() ? output.trimmed() : m_step, output});
    }

    ImageBuilder::OnProgress m_progress;
    JsonLines m_lines;
    QString m_step;
    QString m_error;
    QString m_imageId;
    QString m_tail;
};

QString buildArguments(const ImageRecipe &recipe)
{
    json arguments = {{"BASE", recipe.base.toStdString()}};
    for (const ImageProgram &program : recipe.programs)
        arguments[program.name.toUpper().toStdString() + "_VERSION"] = program.version.toStdString();
    return QString::fromStdString(arguments.dump());
}

QString encoded(const QString &text)
{
    return QString::fromLatin1(QUrl::toPercentEncoding(text));
}

} // namespace

ImageBuilder::ImageBuilder(DockerClient &client, QString scratchFolder)
    : m_client(client), m_scratchFolder(std::move(scratchFolder)), m_cancel(std::make_shared<DockerCancel>())
{
}

void ImageBuilder::cancel()
{
    m_cancel->cancel();
}

QCoro::Task<Result<QString>> ImageBuilder::build(ImageRecipe recipe, OnProgress progress)
{
    if (!recipe.baseArchive.isEmpty()) {
        const Result<void> imported = co_await importBase(recipe, progress);
        if (!imported)
            co_return tl::unexpected<Error>(imported.error());
    }
    QTemporaryFile context(m_scratchFolder + QStringLiteral("/agentimage-XXXXXX.tar"));
    if (!context.open())
        co_return buildFailure(QStringLiteral("The image was not built: no file can be made in %1 (%2). Free some space "
                                              "or make the folder writable.")
                                   .arg(m_scratchFolder, context.errorString()));
    progress({QStringLiteral("Collecting the programs"), {}});
    const Result<void> written = writeContext(recipe, context);
    if (!written)
        co_return tl::unexpected<Error>(written.error());
    context.seek(0);
    DockerRequest request;
    request.method = "POST";
    request.path = QStringLiteral("/build");
    request.query.addQueryItem(QStringLiteral("t"), recipe.tag);
    request.query.addQueryItem(QStringLiteral("rm"), QStringLiteral("1"));
    request.query.addQueryItem(QStringLiteral("forcerm"), QStringLiteral("1"));
    request.query.addQueryItem(QStringLiteral("buildargs"), encoded(buildArguments(recipe)));
    if (!recipe.network)
        request.query.addQueryItem(QStringLiteral("networkmode"), QStringLiteral("none"));
    request.contentType = "application/x-tar";
    request.upload = &context;
    request.limit = std::chrono::minutes(15); // a step may be silent while it fetches
    request.cancel = m_cancel;
    const auto log = std::make_shared<BuildLog>(progress);
    request.onData = [log](const QByteArray &bytes) { log->take(bytes); };
    const Result<DockerReply> reply = co_await m_client.request(request);
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status != 200 || !log->error().isEmpty())
        co_return buildFailure(QStringLiteral("The image %1 was not built: %2")
                                   .arg(recipe.tag, log->error().isEmpty() ? reply->message() : log->error()),
                               log->tail());
    co_return log->imageId();
}

QCoro::Task<Result<void>> ImageBuilder::importBase(ImageRecipe recipe, OnProgress progress)
{
    QFile archive(recipe.baseArchive);
    if (!archive.open(QIODevice::ReadOnly))
        co_return buildFailure(QStringLiteral("The base archive %1 cannot be read (%2). Name a tar file of a whole system.")
                                   .arg(recipe.baseArchive, archive.errorString()));
    progress({QStringLiteral("Importing %1").arg(QFileInfo(archive).fileName()), {}});
    const qsizetype colon = recipe.base.lastIndexOf(u':');
    DockerRequest request;
    request.method = "POST";
    request.path = QStringLiteral("/images/create");
    request.query.addQueryItem(QStringLiteral("fromSrc"), QStringLiteral("-"));
    request.query.addQueryItem(QStringLiteral("repo"), colon < 0 ? recipe.base : recipe.base.left(colon));
    request.query.addQueryItem(QStringLiteral("tag"), colon < 0 ? QStringLiteral("latest") : recipe.base.mid(colon + 1));
    request.contentType = "application/x-tar";
    request.upload = &archive;
    request.limit = std::chrono::minutes(10);
    request.cancel = m_cancel;
    const auto log = std::make_shared<BuildLog>(progress);
    request.onData = [log](const QByteArray &bytes) { log->take(bytes); };
    const Result<DockerReply> reply = co_await m_client.request(request);
    if (!reply)
        co_return tl::unexpected<Error>(reply.error());
    if (reply->status != 200 || !log->error().isEmpty())
        co_return buildFailure(QStringLiteral("The base archive %1 was not imported: %2")
                                   .arg(recipe.baseArchive, log->error().isEmpty() ? reply->message() : log->error()));
    co_return Result<void>{};
}

Result<void> ImageBuilder::writeContext(const ImageRecipe &recipe, QIODevice &to) const
{
    QFile dockerfile(QString::fromLatin1(dockerfilePath));
    if (!dockerfile.open(QIODevice::ReadOnly))
        return buildFailure(QStringLiteral("The image's description is missing from this program. Install it again."));
    TarWriter writer(to);
    writer.addFile(QStringLiteral("Dockerfile"), dockerfile.readAll(), 0644);
    writer.addFolder(QStringLiteral("programs"), 0755);
    writer.addFolder(QStringLiteral("programs/bin"), 0755);
    for (const ImageProgram &program : recipe.programs)
        writer.addFrom(QStringLiteral("programs/bin/") + program.name, program.source);
    if (!writer.finish())
        return buildFailure(QStringLiteral("The image's programs were not collected: %1").arg(writer.error()));
    return {};
}

} // namespace sandbox

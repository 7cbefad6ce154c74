#include "ui/sandboxes/buildpanel.h"

#include "models/reply.h"
#include "ui/widgets/person.h"
#include "ui/widgets/statelabel.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QRegularExpression>
#include <QScrollBar>

namespace ui {
namespace {

constexpr int logLines = 20'000;

} // namespace

BuildPanel::BuildPanel(engine::EngineClient &client, QWidget *parent) : QWidget(parent), m_client(client)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(3 * grid, 3 * grid, 3 * grid, 3 * grid);
    layout->setSpacing(3 * grid);
    layout->addWidget(createForm());
    layout->addWidget(createProgress(), 1);
    layout->addStretch(0);
    connect(&m_client, &engine::EngineClient::fed, this, [this](const engine::FeedBatch &batch) {
        for (const engine::ImageProgress &progress : batch.imageProgress)
            take(progress);
    });
    showButtons();
}

QWidget *BuildPanel::createForm()
{
    auto *form = new QWidget(this);
    auto *heading = new QLabel(tr("Build an image"), form);
    heading->setFont(sizedFont(2, true));
    m_tag = new QLineEdit(engine::ImageRequest().tag, form);
    m_base = new QLineEdit(engine::ImageRequest().base, form);
    m_archive = new QLineEdit(form);
    m_archive->setPlaceholderText(tr("a tar of a whole system"));
    m_fromImage = new QRadioButton(tr("Base image"), form);
    m_fromArchive = new QRadioButton(tr("Base archive"), form);
    m_fromArchive->setToolTip(tr("Needs no registry"));
    m_fromImage->setChecked(true);
    m_browse = new QPushButton(tr("Choose…"), form);
    m_claude = new QCheckBox(tr("Claude Code"), form);
    m_codex = new QCheckBox(tr("Codex"), form);
    m_claude->setChecked(true);
    m_tag->setAccessibleName(tr("Tag of the new image"));
    m_base->setAccessibleName(tr("Name of the base image"));
    m_archive->setAccessibleName(tr("File of the base archive"));
    m_browse->setAccessibleName(tr("Choose the base archive"));
    m_build = new QPushButton(tr("Build"), form);
    m_build->setObjectName(QStringLiteral("buildImage"));
    m_tag->setObjectName(QStringLiteral("imageTag"));
    m_archive->setObjectName(QStringLiteral("baseArchive"));
    m_problemText = new QLabel(form);
    m_problemText->setObjectName(QStringLiteral("buildProblem"));
    m_problemText->setWordWrap(true);
    m_problemText->setForegroundRole(QPalette::PlaceholderText);
    auto *lines = new QGridLayout(form);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setHorizontalSpacing(2 * grid);
    lines->setVerticalSpacing(2 * grid);
    lines->setColumnStretch(1, 1);
    lines->addWidget(heading, 0, 0, 1, 3);
    lines->addWidget(new QLabel(tr("Tag"), form), 1, 0);
    lines->addWidget(m_tag, 1, 1, 1, 2);
    lines->addWidget(m_fromImage, 2, 0);
    lines->addWidget(m_base, 2, 1, 1, 2);
    lines->addWidget(m_fromArchive, 3, 0);
    lines->addWidget(m_archive, 3, 1);
    lines->addWidget(m_browse, 3, 2);
    lines->addWidget(new QLabel(tr("Programs"), form), 4, 0);
    auto *programs = new QHBoxLayout;
    programs->setSpacing(4 * grid);
    programs->addWidget(m_claude);
    programs->addWidget(m_codex);
    programs->addStretch(1);
    lines->addLayout(programs, 4, 1, 1, 2);
    lines->addWidget(m_build, 5, 0);
    lines->addWidget(m_problemText, 5, 1, 1, 2);
    for (QLineEdit *edit : {m_tag, m_base, m_archive}) {
        connect(edit, &QLineEdit::textChanged, this, &BuildPanel::showButtons);
        connect(edit, &QLineEdit::returnPressed, this, &BuildPanel::build);
    }
    for (QAbstractButton *choice : {static_cast<QAbstractButton *>(m_fromImage), static_cast<QAbstractButton *>(m_claude),
                                    static_cast<QAbstractButton *>(m_codex)})
        connect(choice, &QAbstractButton::toggled, this, &BuildPanel::showButtons);
    connect(m_build, &QPushButton::clicked, this, &BuildPanel::build);
    connect(m_browse, &QPushButton::clicked, this, &BuildPanel::browse);
    return form;
}

QWidget *BuildPanel::createProgress()
{
    m_progress = new QWidget(this);
    m_state = new StateLabel(m_progress);
    m_step = new QLabel(m_progress);
    m_step->setObjectName(QStringLiteral("buildStep"));
    m_step->setWordWrap(true);
    m_step->setTextFormat(Qt::PlainText);
    m_step->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_bar = new QProgressBar(m_progress);
    m_bar->setRange(0, 0);
    m_bar->setTextVisible(false);
    m_bar->setFixedHeight(grid);
    m_bar->setAccessibleName(tr("An image is being built"));
    m_log = new QPlainTextEdit(m_progress);
    m_log->setObjectName(QStringLiteral("buildLog"));
    m_log->setAccessibleName(tr("Log of the build"));
    m_log->setReadOnly(true);
    m_log->setFont(monospaceFont());
    m_log->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_log->setMaximumBlockCount(logLines);
    m_cancel = new QPushButton(tr("Cancel build"), m_progress);
    m_cancel->setObjectName(QStringLiteral("cancelBuild"));
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        m_isCancelling = true;
        showButtons();
        m_client.cancelImageBuild();
    });
    auto *top = new QHBoxLayout;
    top->setSpacing(2 * grid);
    top->addWidget(m_state, 0, Qt::AlignVCenter);
    top->addWidget(m_step, 1);
    top->addWidget(m_cancel, 0, Qt::AlignVCenter);
    auto *layout = new QVBoxLayout(m_progress);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2 * grid);
    layout->addLayout(top);
    layout->addWidget(m_bar);
    layout->addWidget(m_log, 1);
    m_progress->hide();
    return m_progress;
}

engine::ImageRequest BuildPanel::request() const
{
    engine::ImageRequest request;
    request.tag = m_tag->text().trimmed();
    request.base = m_fromImage->isChecked() ? m_base->text().trimmed() : QString();
    request.baseArchive = m_fromImage->isChecked() ? QString() : m_archive->text().trimmed();
    request.withClaude = m_claude->isChecked();
    request.withCodex = m_codex->isChecked();
    return request;
}

QString BuildPanel::problem() const
{
    static const QRegularExpression name(
        QStringLiteral("^[a-z0-9][a-z0-9._/:-]*(:[0-9]+/[a-z0-9._/-]+)?(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$"));
    const engine::ImageRequest wanted = request();
    if (m_isBuilding)
        return tr("An image is being built.");
    if (!m_engineProblem.isEmpty())
        return tr("The container engine is not running.");
    if (!name.match(wanted.tag).hasMatch())
        return tr("The tag is a name in small letters, with a version after a colon: signalbox-agent:latest.");
    if (m_fromImage->isChecked() && !name.match(wanted.base).hasMatch())
        return tr("Name the image to build on: debian:bookworm-slim.");
    if (m_fromArchive->isChecked() && !QFileInfo(wanted.baseArchive).isFile())
        return tr("Choose the tar file to build on.");
    return wanted.withClaude || wanted.withCodex ? QString() : tr("Choose at least one program.");
}

void BuildPanel::showButtons()
{
    const QString why = problem();
    m_build->setEnabled(why.isEmpty());
    m_build->setToolTip(why.isEmpty() ? tr("Takes some minutes; you can go on working.") : why);
    m_problemText->setText(m_isBuilding ? QString() : why);
    m_base->setEnabled(m_fromImage->isChecked());
    m_archive->setEnabled(m_fromArchive->isChecked());
    m_browse->setEnabled(m_fromArchive->isChecked());
    m_cancel->setVisible(m_isBuilding);
    m_cancel->setEnabled(!m_isCancelling);
    m_cancel->setText(m_isCancelling ? tr("Cancelling…") : tr("Cancel build"));
    m_bar->setVisible(m_isBuilding);
}

void BuildPanel::build()
{
    if (!problem().isEmpty())
        return;
    const engine::ImageRequest wanted = request();
    begin();
    m_step->setText(tr("Starting to build %1…").arg(wanted.tag));
    models::onReply(m_client.buildImage(wanted, personName()), this, [this](const engine::Result<void> &result) {
        if (result)
            return;
        end(true, result.error().message);
        emit failed(result.error());
    });
}

void BuildPanel::begin()
{
    m_isBuilding = true;
    m_isCancelling = false;
    m_log->clear();
    m_state->setLook({tr("Building"), QStringLiteral("running"), models::Tone::Info});
    m_progress->show();
    showButtons();
}

void BuildPanel::take(const engine::ImageProgress &progress)
{
    if (!m_isBuilding && !progress.finished)
        begin(); // asked for elsewhere
    append(progress.output);
    if (progress.finished)
        end(progress.failed, progress.message);
    else if (!progress.step.isEmpty())
        m_step->setText(progress.step);
}

void BuildPanel::end(bool hasFailed, const QString &message)
{
    m_isBuilding = false;
    const models::Look done{tr("Built"), QStringLiteral("done"), models::Tone::Good};
    const models::Look failed{tr("Failed"), QStringLiteral("failed"), models::Tone::Danger};
    const models::Look cancelled{tr("Cancelled"), QStringLiteral("cancelled"), models::Tone::Neutral};
    m_state->setLook(!hasFailed ? done : m_isCancelling ? cancelled : failed);
    m_isCancelling = false;
    m_step->setText(message);
    m_progress->show();
    showButtons();
    emit built();
}

// Follows its tail, but leaves a reader who scrolled away where they are.
void BuildPanel::append(const QString &output)
{
    if (output.isEmpty())
        return;
    QScrollBar *bar = m_log->verticalScrollBar();
    const bool atTail = bar->value() >= bar->maximum();
    const int place = bar->value();
    QString text = output;
    text.replace(QStringLiteral("\r\n"), QStringLiteral("\n")).replace(u'\r', u'\n');
    QTextCursor cursor(m_log->document());
    cursor.movePosition(QTextCursor::End);
    cursor.insertText(text);
    bar->setValue(atTail ? bar->maximum() : place);
}

void BuildPanel::browse()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Base archive"), m_archive->text(), tr("Archives (*.tar *.tar.gz *.tgz *.tar.xz)"));
    if (!file.isEmpty())
        m_archive->setText(file);
}

void BuildPanel::setEngineProblem(const QString &why)
{
    m_engineProblem = why;
    showButtons();
}

void BuildPanel::focusForm()
{
    m_tag->setFocus(Qt::OtherFocusReason);
    m_tag->selectAll();
}

} // namespace ui

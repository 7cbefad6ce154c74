#include "ui/settings/settingspage.h"

#include "models/displaytext.h"
#include "models/reply.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSpinBox>

namespace ui {
namespace {

constexpr int pageWidth = 720;

QLabel *selectableLabel(QWidget *parent)
{
    auto *label = new QLabel(parent);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    return label;
}

} // namespace

SettingsPage::SettingsPage(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_client(client), m_settings(settings)
{
    auto *content = new QWidget(this);
    content->setMaximumWidth(pageWidth);
    auto *groups = new QVBoxLayout(content);
    groups->setContentsMargins(6 * grid, 4 * grid, 6 * grid, 4 * grid);
    groups->setSpacing(4 * grid);
    for (QGroupBox *group : {createIdentity(), createEngine(), createAppearance(), createChecks()})
        groups->addWidget(group);
    groups->addStretch(1);
    auto *area = new QScrollArea(this);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidget(content);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(area);
    connect(&m_client, &engine::EngineClient::fed, this, [this](const engine::FeedBatch &batch) {
        if (batch.settingsChanged)
            readSettings();
    });
}

QGroupBox *SettingsPage::createIdentity()
{
    auto *group = new QGroupBox(tr("Identity"), this);
    const QString stored = m_settings.value(QStringLiteral("person")).toString();
    if (!stored.isEmpty())
        setPersonName(stored);
    m_name = new QLineEdit(personName(), group);
    m_name->setAccessibleName(tr("Your name"));
    connect(m_name, &QLineEdit::editingFinished, this, [this] {
        const QString name = m_name->text().trimmed();
        m_settings.setValue(QStringLiteral("person"), name);
        setPersonName(name);
        m_name->setText(personName());
    });
    auto *form = new QFormLayout(group);
    form->addRow(tr("Your &name"), m_name);
    auto *about = new QLabel(tr("Signs prompts and decisions, and stands in the audit list."), group);
    about->setWordWrap(true);
    form->addRow(QString(), about);
    return group;
}

QGroupBox *SettingsPage::createEngine()
{
    auto *group = new QGroupBox(tr("Engine"), this);
    m_concurrency = new QSpinBox(group);
    m_concurrency->setRange(1, 64);
    m_concurrency->setValue(4);
    m_concurrency->setAccessibleName(tr("Runs at the same time"));
    m_continue = new QCheckBox(tr("Continue after resolving"), group);
    m_continue->setToolTip(tr("On: a decision goes to the harness at once. Off: a Continue button waits."));
    m_continue->setChecked(true);
    m_store = selectableLabel(group);
    m_data = selectableLabel(group);
    m_problem = selectableLabel(group);
    m_problem->hide();
    connect(m_concurrency, &QSpinBox::valueChanged, this,
            [this](int runs) { store(QStringLiteral("queue.max_concurrency"), QString::number(runs)); });
    connect(m_continue, &QCheckBox::toggled, this, [this](bool on) {
        store(QStringLiteral("approvals.continue_after_resolving"), on ? QStringLiteral("true") : QStringLiteral("false"));
    });
    auto *form = new QFormLayout(group);
    form->addRow(tr("&Runs at the same time"), m_concurrency);
    form->addRow(tr("Approvals"), m_continue);
    form->addRow(tr("Store"), m_store);
    form->addRow(tr("Data folder"), m_data);
    form->addRow(m_problem);
    return group;
}

QGroupBox *SettingsPage::createAppearance()
{
    auto *group = new QGroupBox(tr("Appearance"), this);
    m_appearance = new QComboBox(group);
    m_appearance->setAccessibleName(tr("Colours"));
    m_appearance->addItem(tr("As the system"), toString(Appearance::System));
    m_appearance->addItem(tr("Light"), toString(Appearance::Light));
    m_appearance->addItem(tr("Dark"), toString(Appearance::Dark));
    m_appearance->setCurrentIndex(m_appearance->findData(m_settings.value(QStringLiteral("appearance"), toString(Appearance::System))));
    m_text = new QSpinBox(group);
    m_text->setAccessibleName(tr("Text size"));
    m_text->setRange(75, 200);
    m_text->setSingleStep(5);
    m_text->setSuffix(tr(" %"));
    m_text->setValue(m_settings.value(QStringLiteral("text_percent"), 100).toInt());
    connect(m_appearance, &QComboBox::currentIndexChanged, this, &SettingsPage::showTheme);
    connect(m_text, &QSpinBox::valueChanged, this, &SettingsPage::showTheme);
    auto *form = new QFormLayout(group);
    form->addRow(tr("&Colours"), m_appearance);
    form->addRow(tr("&Text size"), m_text);
    return group;
}

QGroupBox *SettingsPage::createChecks()
{
    auto *group = new QGroupBox(tr("Health"), this);
    m_findings = new QWidget(group);
    m_findingsLayout = new QVBoxLayout(m_findings);
    m_findingsLayout->setContentsMargins(0, 0, 0, 0);
    m_findingsLayout->setSpacing(2 * grid);
    auto *again = new QPushButton(tr("Check again"), group);
    connect(again, &QPushButton::clicked, this, &SettingsPage::examine);
    auto *layout = new QVBoxLayout(group);
    layout->addWidget(m_findings);
    layout->addWidget(again, 0, Qt::AlignLeft);
    return group;
}

void SettingsPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    readSettings();
    readStatus();
    examine();
}

void SettingsPage::readSettings()
{
    models::onReply(m_client.settings(), this, [this](const engine::Result<QMap<QString, QString>> &values) {
        if (!values)
            return;
        m_reading = true;
        m_concurrency->setValue(values->value(QStringLiteral("queue.max_concurrency"), QStringLiteral("4")).toInt());
        m_continue->setChecked(values->value(QStringLiteral("approvals.continue_after_resolving"), QStringLiteral("true")) == u"true");
        m_reading = false;
    });
}

void SettingsPage::readStatus()
{
    models::onReply(m_client.status(), this, [this](const engine::Result<engine::EngineStatus> &status) {
        m_store->setText(status ? tr("%1, schema %2, %3").arg(status->storeKind).arg(status->schemaVersion).arg(status->storePath)
                                : status.error().message);
        m_data->setText(status ? status->dataFolder : QString());
    });
}

void SettingsPage::store(const QString &key, const QString &value)
{
    if (m_reading)
        return;
    models::onReply(m_client.setSetting(key, value, personName()), this, [this](const engine::Result<void> &stored) {
        m_problem->setVisible(!stored);
        if (stored)
            return;
        m_problem->setText(stored.error().message);
        readSettings();
    });
}

void SettingsPage::examine()
{
    models::onReply(m_client.doctor(), this, [this](const engine::Result<QList<engine::Finding>> &findings) {
        showFindings(findings ? *findings
                              : QList<engine::Finding>{{engine::Finding::Level::Error, tr("Engine"), findings.error().message, {}}});
    });
}

void SettingsPage::showFindings(const QList<engine::Finding> &findings)
{
    while (QLayoutItem *item = m_findingsLayout->takeAt(0)) {
        if (item->widget())
            item->widget()->deleteLater();
        delete item;
    }
    for (const engine::Finding &finding : findings) {
        const bool ok = finding.level == engine::Finding::Level::Ok;
        const models::Tone tone = ok                                                ? models::Tone::Good
                                  : finding.level == engine::Finding::Level::Error ? models::Tone::Danger
                                                                                   : models::Tone::Attention;
        auto *row = new QWidget(m_findings);
        auto *picture = new QLabel(row);
        picture->setPixmap(iconPixmap(ok ? QStringLiteral("done") : QStringLiteral("warning"), toneColour(tone, palette()), 4 * grid,
                                      devicePixelRatioF()));
        picture->setAccessibleName(ok ? tr("in order") : tr("needs attention"));
        QLabel *words = selectableLabel(row);
        words->setText(finding.subject + QStringLiteral(": ") + finding.text +
                       (finding.remedy.isEmpty() ? QString() : QStringLiteral("\n") + finding.remedy));
        auto *layout = new QHBoxLayout(row);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(2 * grid);
        layout->addWidget(picture, 0, Qt::AlignTop);
        layout->addWidget(words, 1);
        m_findingsLayout->addWidget(row);
    }
}

void SettingsPage::showTheme()
{
    m_settings.setValue(QStringLiteral("appearance"), m_appearance->currentData());
    m_settings.setValue(QStringLiteral("text_percent"), m_text->value());
    applyTheme(*qApp, m_settings);
}

} // namespace ui

#include "ui/sandboxes/imagestab.h"

#include "ui/sandboxes/buildpanel.h"
#include "ui/sandboxes/sandboxtable.h"
#include "ui/widgets/emptystate.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QSettings>
#include <QSplitter>
#include <QStackedLayout>

namespace ui {
namespace {

constexpr int buildWidth = 460;

} // namespace

ImagesTab::ImagesTab(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_settings(settings), m_model(client)
{
    m_splitter = new QSplitter(this);
    m_splitter->setChildrenCollapsible(false);
    auto *side = new QWidget(m_splitter);
    side->setMinimumWidth(440);
    m_stack = new QStackedLayout(side);
    auto *empty = new EmptyState(QStringLiteral("image"), tr("No image yet"),
                                 tr("A container starts from an image that holds the system and the agent's program. Build one once; every "
                                    "session that runs in a container starts from it."),
                                 tr("Build an image"), side);
    m_stack->addWidget(empty);
    m_table = new SandboxTable(m_model, tr("Images"), side);
    m_table->setObjectName(QStringLiteral("images"));
    m_stack->addWidget(m_table);
    m_build = new BuildPanel(client, m_splitter);
    m_build->setMinimumWidth(360);
    m_splitter->addWidget(side);
    m_splitter->addWidget(m_build);
    m_splitter->setStretchFactor(0, 1);
    m_splitter->setSizes({900, buildWidth});
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_splitter);
    m_table->restore(m_settings, QStringLiteral("sandboxes/images"), {30, 12, 9, 11, 9, 7, 20});
    m_splitter->restoreState(m_settings.value(QStringLiteral("sandboxes/images_splitter")).toByteArray());
    connect(empty, &EmptyState::actionPressed, m_build, &BuildPanel::focusForm);
    connect(&m_model, &models::ImageModel::loaded, this, [this] { m_stack->setCurrentIndex(m_model.rowCount() == 0 ? 0 : 1); });
    connect(&m_model, &models::ImageModel::failed, this, &ImagesTab::failed);
    connect(m_build, &BuildPanel::failed, this, &ImagesTab::failed);
    connect(m_build, &BuildPanel::built, this, &ImagesTab::load);
}

ImagesTab::~ImagesTab()
{
    m_table->save(m_settings, QStringLiteral("sandboxes/images"));
    m_settings.setValue(QStringLiteral("sandboxes/images_splitter"), m_splitter->saveState());
}

void ImagesTab::focusFilter()
{
    m_table->setFocus(Qt::ShortcutFocusReason);
}

void ImagesTab::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    load();
}

} // namespace ui

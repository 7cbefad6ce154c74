#include "ui/sessions/sessionlistpane.h"
#include "ui/sessions/sessiondelegate.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>

namespace ui {

SessionListPane::SessionListPane(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_settings(settings), m_model(client)
{
    createViews();
    connectModel();
    const QString filter = m_settings.value(QStringLiteral("sessions/filter")).toString();
    m_filter->setText(filter);
    m_typing.stop();
    m_model.setFilter(filter);
    if (filter.isEmpty())
        m_model.load();
}

void SessionListPane::createViews()
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 2 * grid, 0, 0);
    layout->setSpacing(2 * grid);
    auto *top = new QHBoxLayout;
    top->setContentsMargins(2 * grid, 0, 2 * grid, 0);
    top->setSpacing(2 * grid);
    m_filter = new QLineEdit(this);
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setAccessibleName(tr("Filter sessions by title or agent"));
    m_filter->setClearButtonEnabled(true);
    m_new = new QPushButton(icon(QStringLiteral("plus"), palette().color(QPalette::ButtonText)), tr("New session"), this);
    m_new->setToolTip(tr("New session (Ctrl+N)"));
    top->addWidget(m_filter, 1);
    top->addWidget(m_new);
    layout->addLayout(top);
    m_list = new QListView(this);
    m_list->setModel(&m_model);
    m_list->setItemDelegate(new SessionDelegate(m_list));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setMouseTracking(true);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setResizeMode(QListView::Adjust);
    m_list->setAccessibleName(tr("Sessions"));
    layout->addWidget(m_list, 1);
    m_empty = new QLabel(m_list->viewport());
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    auto *over = new QVBoxLayout(m_list->viewport());
    over->setContentsMargins(4 * grid, 4 * grid, 4 * grid, 4 * grid);
    over->addWidget(m_empty);
    m_empty->hide();
    m_typing.setSingleShot(true);
    m_typing.setInterval(150);
    m_ages.setInterval(std::chrono::seconds(30));
    m_ages.start();
}

void SessionListPane::connectModel()
{
    connect(m_new, &QPushButton::clicked, this, &SessionListPane::newSessionAsked);
    connect(m_filter, &QLineEdit::textChanged, &m_typing, qOverload<>(&QTimer::start));
    connect(m_filter, &QLineEdit::returnPressed, m_list, qOverload<>(&QWidget::setFocus));
    connect(&m_typing, &QTimer::timeout, this, [this] {
        m_settings.setValue(QStringLiteral("sessions/filter"), m_filter->text());
        m_model.setFilter(m_filter->text());
    });
    connect(&m_ages, &QTimer::timeout, m_list->viewport(), qOverload<>(&QWidget::update));
    connect(&m_model, &models::SessionListModel::failed, this, &SessionListPane::failed);
    connect(&m_model, &models::SessionListModel::loaded, this, [this] {
        updateEmptyText();
        if (!m_wanted.isEmpty())
            select(m_wanted);
        emit loaded();
    });
    connect(&m_model, &QAbstractItemModel::rowsInserted, this, [this] {
        updateEmptyText();
        if (!m_wanted.isEmpty())
            select(m_wanted);
    });
    connect(&m_model, &QAbstractItemModel::rowsRemoved, this, &SessionListPane::updateEmptyText);
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex &current) {
        const engine::SessionId id = m_model.idAt(current);
        if (id.isEmpty())
            return;
        m_wanted = {};
        emit sessionSelected(id);
    });
}

void SessionListPane::updateEmptyText()
{
    m_empty->setVisible(m_model.isLoaded() && m_model.sessionCount() == 0);
    m_empty->setText(m_model.filter().isEmpty()
                         ? tr("No session yet.\nA session is one conversation with an agent: begin one with New session.")
                         : tr("No session matches “%1”.\nClear the filter to see all.").arg(m_model.filter()));
}

void SessionListPane::select(const engine::SessionId &id)
{
    const QModelIndex index = m_model.indexOf(id);
    m_wanted = index.isValid() ? engine::SessionId() : id;
    if (!index.isValid() || index == m_list->currentIndex())
        return;
    m_list->setCurrentIndex(index);
    m_list->scrollTo(index);
}

engine::SessionId SessionListPane::selected() const
{
    return m_model.idAt(m_list->currentIndex());
}

void SessionListPane::focusFilter()
{
    m_filter->setFocus(Qt::ShortcutFocusReason);
    m_filter->selectAll();
}

} // namespace ui

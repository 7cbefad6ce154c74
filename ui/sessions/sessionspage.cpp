#include "ui/sessions/sessionspage.h"

#include "models/reply.h"
#include "ui/sessions/composer.h"
#include "ui/sessions/findbar.h"
#include "ui/sessions/newsessiondialog.h"
#include "ui/sessions/sessionheader.h"
#include "ui/sessions/sessioninspector.h"
#include "ui/sessions/sessionlistpane.h"
#include "ui/sessions/transcriptview.h"
#include "ui/sessions/waitingstrip.h"
#include "ui/widgets/approvalcard.h"
#include "ui/widgets/emptystate.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QBoxLayout>
#include <QEvent>
#include <QLabel>
#include <QScrollArea>
#include <QSettings>
#include <QShortcut>
#include <QSplitter>
#include <QStackedLayout>
#include <QToolButton>

namespace ui {
namespace {

constexpr char splitterKey[] = "sessions/splitter";
constexpr char selectedKey[] = "sessions/selected";

// Takes the height of its content up to a share of the page, so that a tall card leaves the transcript readable.
class CardArea final : public QScrollArea
{
public:
    using QScrollArea::QScrollArea;
    QSize sizeHint() const override
    {
        const int wanted = widget() ? widget()->sizeHint().height() + 2 * frameWidth() : 0;
        const int most = window() ? window()->height() * 45 / 100 : wanted;
        return {QScrollArea::sizeHint().width(), qMin(wanted, most)};
    }
    QSize minimumSizeHint() const override { return {200, qMin(sizeHint().height(), 160)}; }
};

} // namespace

SessionsPage::SessionsPage(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QWidget(parent), m_client(client), m_settings(settings), m_follower(client), m_model(client)
{
    createViews();
    connectParts();
}

SessionsPage::~SessionsPage()
{
    m_settings.setValue(QLatin1String(splitterKey), m_splitter->saveState());
    m_settings.setValue(QLatin1String(selectedKey), m_follower.id().value);
}

void SessionsPage::createViews()
{
    m_list = new SessionListPane(m_client, m_settings, this);
    auto *empty = new EmptyState(QStringLiteral("sessions"), tr("No session is open"),
                                 tr("A session is one conversation with an agent, in one folder. Choose one on the left, or begin a "
                                    "new one."),
                                 tr("New session"), this);
    connect(empty, &EmptyState::actionPressed, this, &SessionsPage::newSession);
    auto *main = new QWidget(this);
    m_stack = new QStackedLayout(main);
    m_stack->addWidget(empty);
    m_stack->addWidget(createMain());
    m_inspector = new SessionInspector(m_client, m_follower, this);

    m_splitter = new QSplitter(Qt::Horizontal, this);
    m_splitter->addWidget(m_list);
    m_splitter->addWidget(main);
    m_splitter->addWidget(m_inspector);
    m_splitter->setStretchFactor(0, 0);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setStretchFactor(2, 0);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->setSizes({270, 800, 290});
    m_splitter->restoreState(m_settings.value(QLatin1String(splitterKey)).toByteArray());
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_splitter);
}

QWidget *SessionsPage::createMain()
{
    auto *main = new QWidget(this);
    m_header = new SessionHeader(m_client, m_follower, main);
    m_transcript = new TranscriptView(m_model, main);
    m_transcript->setEmptyText(tr("Nothing has been said yet"), tr("Write what the agent should do in the field below."));
    m_transcript->installEventFilter(this);
    m_find = new FindBar(m_client, m_model, *m_transcript, main);
    m_find->hide();
    m_news = new QToolButton(m_transcript);
    m_news->setAccessibleName(tr("Go to the newest message"));
    m_news->hide();
    m_waiting = new WaitingStrip(main);
    m_composer = new Composer(m_client, m_settings, main);

    auto *area = new CardArea(main);
    m_pinned = area;
    m_pinned->setAccessibleName(tr("Approval that this session waits for"));
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    auto *content = new QWidget(area);
    auto *cards = new QVBoxLayout(content);
    cards->setContentsMargins(2 * grid, grid, 2 * grid, grid);
    m_pinnedMore = new QLabel(content);
    m_card = new ApprovalCard(m_client, content);
    cards->addWidget(m_pinnedMore);
    cards->addWidget(m_card);
    area->setWidget(content);
    m_pinned->hide();

    auto *layout = new QVBoxLayout(main);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_header);
    layout->addWidget(m_find);
    layout->addWidget(m_transcript, 1);
    layout->addWidget(m_pinned);
    layout->addWidget(m_waiting);
    layout->addWidget(m_composer);
    return main;
}

void SessionsPage::connectParts()
{
    connect(m_list, &SessionListPane::sessionSelected, this, &SessionsPage::show);
    connect(m_list, &SessionListPane::newSessionAsked, this, &SessionsPage::newSession);
    connect(m_list, &SessionListPane::failed, this, &SessionsPage::failed);
    connect(m_list, &SessionListPane::loaded, this, [this] {
        if (!m_follower.id().isEmpty())
            return;
        const QString last = m_settings.value(QLatin1String(selectedKey)).toString();
        if (!last.isEmpty() && m_list->model().indexOf(engine::SessionId{last}).isValid()) {
            m_list->select(engine::SessionId{last});
            return;
        }
        // The first in the list is the one that needs a person most.
        for (int row = 0; row < m_list->model().rowCount(); ++row) {
            const engine::SessionId first = m_list->model().idAt(m_list->model().index(row, 0));
            if (first.isEmpty())
                continue;
            m_list->select(first);
            break;
        }
    });
    connect(m_header, &SessionHeader::failed, this, &SessionsPage::failed);
    connect(&m_follower, &models::SessionFollower::failed, this, &SessionsPage::failed);
    connect(&m_follower, &models::SessionFollower::runsChanged, this, &SessionsPage::showRuns);
    connect(&m_follower, &models::SessionFollower::approvalsChanged, this, &SessionsPage::showApprovals);
    connect(&m_follower, &models::SessionFollower::removed, this, [this] { m_stack->setCurrentIndex(0); });
    connect(&m_model, &models::TranscriptModel::failed, this, &SessionsPage::failed);
    connect(m_transcript, &TranscriptView::approvalActivated, this, [this](const engine::ApprovalId &id) {
        if (m_card->isVisible() && m_card->approval().id == id)
            m_card->focusDeny();
        else
            emit approvalActivated(id);
    });
    connect(m_transcript, &TranscriptView::unseenChanged, this, &SessionsPage::showNews);
    connect(m_transcript, &TranscriptView::followChanged, this, [this] { showNews(m_transcript->unseen()); });
    connect(m_news, &QToolButton::clicked, m_transcript, &TranscriptView::followTail);
    connect(m_waiting, &WaitingStrip::cancelAsked, this, &SessionsPage::cancel);
    connect(m_waiting, &WaitingStrip::allAsked, this, [this] { m_inspector->showQueue(); });
    connect(m_inspector, &SessionInspector::cancelAsked, this, &SessionsPage::cancel);
    connect(m_inspector, &SessionInspector::failed, this, &SessionsPage::failed);
    connect(m_composer, &Composer::submitted, this, [this] { m_transcript->followTail(); });
    auto *fresh = new QShortcut(QKeySequence::New, this);
    connect(fresh, &QShortcut::activated, this, &SessionsPage::newSession);
}

void SessionsPage::show(const engine::SessionId &id)
{
    if (id.isEmpty() || id == m_follower.id())
        return;
    const engine::Session *known = m_list->model().sessionAt(m_list->model().indexOf(id));
    m_follower.follow(id);
    m_model.open(id, known ? known->blocks : 0);
    m_composer->setSession(id);
    m_composer->setAhead(0, false);
    m_pinned->hide();
    m_stack->setCurrentIndex(1);
    m_transcript->followTail();
}

void SessionsPage::openSession(const engine::SessionId &id)
{
    m_list->select(id);
    show(id);
}

void SessionsPage::newSession()
{
    auto *dialog = new NewSessionDialog(m_client, window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &NewSessionDialog::created, this, [this](const engine::Session &session) {
        openSession(session.id);
        m_composer->setFocus();
    });
    dialog->open();
}

void SessionsPage::focusFilter()
{
    m_list->focusFilter();
}

void SessionsPage::find()
{
    m_find->open();
}

void SessionsPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    placeNews();
}

void SessionsPage::showRuns()
{
    const engine::Run *active = m_follower.activeRun();
    m_composer->setAhead(m_follower.ahead(), active && active->state == engine::RunState::Paused);
    m_waiting->setRuns(m_follower.waiting());
    QStringList prompts;
    QHash<engine::RunId, QString> authors;
    for (const engine::Run &run : m_follower.runs()) {
        prompts.append(run.prompt);
        authors.insert(run.id, run.requestedBy);
    }
    m_composer->setHistory(prompts);
    m_transcript->setAuthors(authors);
}

void SessionsPage::showApprovals()
{
    m_transcript->setApprovals(m_follower.approvals());
    const QList<engine::Approval> pending = m_follower.pendingApprovals();
    // A decided one stays until its run goes on, so that Continue can be pressed where it was decided.
    engine::Approval shown = pending.value(0);
    if (pending.isEmpty()) {
        const engine::Run *active = m_follower.activeRun();
        for (const engine::Approval &approval : m_follower.approvals()) {
            if (active && approval.runId == active->id && active->state == engine::RunState::Paused &&
                approval.requestedAt >= shown.requestedAt)
                shown = approval;
        }
    }
    m_pinned->setVisible(!shown.id.isEmpty());
    if (shown.id.isEmpty())
        return;
    m_pinnedMore->setVisible(pending.size() > 1);
    m_pinnedMore->setText(tr("%1 more wait in this run; they come up one after the other.").arg(pending.size() - 1));
    m_card->setApproval(shown);
    m_pinned->updateGeometry();
}

void SessionsPage::showNews(qint64 unseen)
{
    m_news->setVisible(!m_transcript->followsTail());
    m_news->setText(unseen > 0 ? tr("↓ %1 new").arg(unseen) : tr("↓ Latest"));
    placeNews();
}

void SessionsPage::placeNews()
{
    m_news->adjustSize();
    const QWidget *area = m_transcript->viewport();
    m_news->move((area->width() - m_news->width()) / 2, area->height() - m_news->height() - 3 * grid);
    m_news->raise();
}

bool SessionsPage::eventFilter(QObject *object, QEvent *event)
{
    if (object == m_transcript && event->type() == QEvent::Resize)
        placeNews();
    return QWidget::eventFilter(object, event);
}

void SessionsPage::cancel(const engine::RunId &id)
{
    models::onReply(m_client.cancelRun(id, personName()), this, [this](const engine::Result<engine::Run> &result) {
        if (!result)
            emit failed(result.error());
    });
}

} // namespace ui

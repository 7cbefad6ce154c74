#include "ui/sessions/composer.h"
#include "models/reply.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/person.h"
#include "ui/widgets/theme.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QTextDocument>
#include <QVBoxLayout>

namespace ui {

Composer::Composer(engine::EngineClient &client, QSettings &settings, QWidget *parent)
    : QFrame(parent), m_client(client), m_settings(settings)
{
    createViews();
    connect(m_edit, &QPlainTextEdit::textChanged, this, &Composer::typed);
    connect(m_send, &QPushButton::clicked, this, &Composer::send);
    updateButton();
    fitHeight();
}

void Composer::createViews()
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(4 * grid, 2 * grid, 4 * grid, 3 * grid);
    layout->setSpacing(grid);
    m_error = new QLabel(this);
    m_error->setWordWrap(true);
    m_error->setTextFormat(Qt::PlainText);
    m_error->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_error->setAccessibleName(tr("Error of the composer"));
    m_error->hide();
    layout->addWidget(m_error);
    m_edit = new QPlainTextEdit(this);
    m_edit->setPlaceholderText(tr("Write a prompt. Enter sends, Shift+Enter begins a new line."));
    m_edit->setAccessibleName(tr("Prompt"));
    m_edit->setTabChangesFocus(true);
    m_edit->installEventFilter(this);
    layout->addWidget(m_edit);
    auto *row = new QHBoxLayout;
    row->setSpacing(2 * grid);
    m_hint = new QLabel(this);
    m_hint->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row->addWidget(m_hint, 1);
    m_send = new QPushButton(this);
    m_send->setDefault(true);
    row->addWidget(m_send);
    layout->addLayout(row);
}

QString Composer::draftKey(const engine::SessionId &session) const
{
    return QStringLiteral("sessions/drafts/") + session.value;
}

void Composer::setSession(const engine::SessionId &id)
{
    if (id == m_session)
        return;
    saveDraft();
    m_session = id;
    m_sending = false;
    m_prewarmed = false;
    m_historyAt = -1;
    m_history.clear();
    showError({});
    setText(m_settings.value(draftKey(id)).toString());
    setEnabled(!id.isEmpty());
    updateButton();
}

void Composer::setAhead(int runs, bool paused)
{
    m_ahead = runs;
    m_paused = paused;
    updateButton();
}

void Composer::setHistory(const QStringList &prompts)
{
    m_history = prompts;
}

QString Composer::text() const
{
    return m_edit->toPlainText();
}

void Composer::setText(const QString &text)
{
    m_setting = true;
    m_edit->setPlainText(text);
    m_edit->moveCursor(QTextCursor::End);
    m_setting = false;
    fitHeight();
    updateButton();
}

void Composer::typed()
{
    fitHeight();
    updateButton();
    if (m_setting)
        return;
    showError({});
    m_historyAt = -1;
    if (!m_prewarmed && !m_session.isEmpty() && !m_edit->document()->isEmpty()) {
        m_prewarmed = true;
        m_client.prewarm(m_session);
    }
    saveDraft();
}

void Composer::saveDraft()
{
    if (m_session.isEmpty())
        return;
    if (text().isEmpty())
        m_settings.remove(draftKey(m_session));
    else
        m_settings.setValue(draftKey(m_session), text());
}

void Composer::send()
{
    const QString prompt = text();
    if (m_sending || m_session.isEmpty() || prompt.trimmed().isEmpty())
        return;
    m_sending = true;
    showError({});
    updateButton();
    if (m_key.isEmpty() || m_keyText != prompt) {
        m_key = engine::newIdValue("k");
        m_keyText = prompt;
    }
    engine::NewRun request;
    request.sessionId = m_session;
    request.prompt = prompt;
    request.requestedBy = personName();
    request.origin = QStringLiteral("window");
    request.idempotencyKey = m_key;
    models::onReply(m_client.submit(request), this, [this, session = m_session, prompt](const engine::Result<engine::Submitted> &result) {
        receive(session, prompt, result);
    });
}

void Composer::receive(const engine::SessionId &session, const QString &prompt,
                       const engine::Result<engine::Submitted> &result)
{
    const bool shown = session == m_session;
    if (shown)
        m_sending = false;
    if (!result) {
        // The text was never taken away; another session's is kept as its draft.
        if (shown)
            showError(result.error().message);
        else
            m_settings.setValue(draftKey(session), prompt);
        updateButton();
        return;
    }
    if (prompt == m_keyText)
        m_key.clear();
    if (shown && text() == prompt) {
        setText({});
        saveDraft();
        if (isVisible())
            m_edit->setFocus();
    } else if (m_settings.value(draftKey(session)).toString() == prompt) {
        m_settings.remove(draftKey(session));
    }
    updateButton();
    emit submitted(result->run);
}

void Composer::showError(const QString &words)
{
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, toneColour(models::Tone::Danger, palette()));
    m_error->setPalette(colours);
    m_error->setText(words.isEmpty() ? QString() : tr("Not sent: %1").arg(words));
    m_error->setVisible(!words.isEmpty());
}

void Composer::updateButton()
{
    const bool empty = text().trimmed().isEmpty();
    m_send->setText(m_sending ? tr("Sending…") : m_ahead > 0 ? tr("Queue (%1 ahead)").arg(m_ahead) : tr("Send"));
    m_send->setIcon(icon(m_ahead > 0 ? QStringLiteral("queue") : QStringLiteral("send"),
                         m_send->palette().color(QPalette::ButtonText)));
    m_send->setEnabled(!m_sending && !empty && !m_session.isEmpty());
    m_send->setToolTip(m_sending ? tr("The engine is asked.")
                       : empty   ? tr("Write a prompt first.")
                       : m_ahead > 0
                           ? tr("Stands in line behind %n run(s) of this session.", nullptr, m_ahead)
                           : tr("Starts at once (Enter)."));
    m_edit->setReadOnly(m_sending);
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, mutedColour(palette()));
    m_hint->setPalette(colours);
    m_hint->setText(m_paused ? tr("The run at the head waits for a decision; a prompt waits behind it.") : QString());
}

void Composer::fitHeight()
{
    const int line = m_edit->fontMetrics().lineSpacing();
    const int lines = qBound(2, int(m_edit->document()->size().height()), 10);
    m_edit->setFixedHeight(lines * line + 2 * int(m_edit->document()->documentMargin()) + 2 * m_edit->frameWidth());
}

void Composer::showEvent(QShowEvent *event)
{
    QFrame::showEvent(event);
    fitHeight();
}

void Composer::showHistory(int step)
{
    const qsizetype at = m_historyAt < 0 ? m_history.size() + step : m_historyAt + step;
    if (at < 0 || m_history.isEmpty())
        return;
    m_historyAt = at >= m_history.size() ? -1 : at;
    setText(m_historyAt < 0 ? QString() : m_history.at(m_historyAt));
    saveDraft();
}

bool Composer::eventFilter(QObject *object, QEvent *event)
{
    if (object != m_edit || event->type() != QEvent::KeyPress)
        return QFrame::eventFilter(object, event);
    const auto *key = static_cast<QKeyEvent *>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (enter && !(key->modifiers() & Qt::ShiftModifier)) {
        send();
        return true;
    }
    if (key->modifiers() == Qt::NoModifier && !m_sending) {
        if (key->key() == Qt::Key_Up && (text().isEmpty() || m_historyAt >= 0)) {
            showHistory(-1);
            return true;
        }
        if (key->key() == Qt::Key_Down && m_historyAt >= 0) {
            showHistory(1);
            return true;
        }
    }
    return QFrame::eventFilter(object, event);
}

} // namespace ui

#pragma once

#include "engine/engineclient.h"

#include <QFrame>

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QSettings;

namespace ui {

// Where a prompt is written. Says "Send" or "Queue (2 ahead)" before it is pressed, keeps a draft per session, and
// gives the text back when the engine did not take it. Never answers an approval: a prompt always stands in line.
class Composer final : public QFrame
{
    Q_OBJECT

public:
    Composer(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);

    void setSession(const engine::SessionId &id);
    // How many runs stand before a new one; `paused`: the first of them waits for a person.
    void setAhead(int runs, bool paused);
    void setHistory(const QStringList &prompts); // oldest first
    QString text() const;
    void setText(const QString &text);
    void send();
    bool isSending() const { return m_sending; }

signals:
    void submitted(const engine::Run &run);

protected:
    bool eventFilter(QObject *object, QEvent *event) override;
    void showEvent(QShowEvent *event) override;

private:
    void createViews();
    void typed();
    void saveDraft();
    void showHistory(int step);
    void showError(const QString &words);
    void receive(const engine::SessionId &session, const QString &prompt, const engine::Result<engine::Submitted> &result);
    void updateButton();
    void fitHeight();
    QString draftKey(const engine::SessionId &session) const;

    engine::EngineClient &m_client;
    QSettings &m_settings;
    engine::SessionId m_session;
    QStringList m_history;
    qsizetype m_historyAt = -1;
    int m_ahead = 0;
    bool m_paused = false;
    bool m_sending = false;
    bool m_prewarmed = false;
    bool m_setting = false; // text changes by us, not by the person
    QString m_key;          // idempotency key of the prompt that is being sent: a retry is the same run
    QString m_keyText;
    QPlainTextEdit *m_edit = nullptr;
    QPushButton *m_send = nullptr;
    QLabel *m_hint = nullptr;
    QLabel *m_error = nullptr;
};

} // namespace ui

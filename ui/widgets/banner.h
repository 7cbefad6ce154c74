#pragma once

#include "engine/types/feed.h"

#include <QFrame>

class QLabel;
class QPushButton;

namespace ui {

// The one place for news and errors: what was tried, why it failed, what to do; with details and copy. Never a modal box.
class Banner final : public QFrame
{
    Q_OBJECT

public:
    explicit Banner(QWidget *parent = nullptr);

    // An error replaces older news; equal news is not repeated.
    void show(const engine::Notice &notice);
    void showError(const engine::Error &error);
    void dismiss();
    QString text() const;

signals:
    void sessionActivated(const engine::SessionId &id);

protected:
    void changeEvent(QEvent *event) override;

private:
    void drawLevel();

    engine::Notice m_notice;
    QLabel *m_icon = nullptr;
    QLabel *m_title = nullptr;
    QLabel *m_detail = nullptr;
    QPushButton *m_details = nullptr;
    QPushButton *m_open = nullptr;
};

} // namespace ui

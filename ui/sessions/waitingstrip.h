#pragma once

#include "engine/types/run.h"

#include <QWidget>

class QGridLayout;

namespace ui {

// The first waiting runs of a session above its composer: place, prompt, reason, and a button that cancels.
class WaitingStrip final : public QWidget
{
    Q_OBJECT

public:
    explicit WaitingStrip(QWidget *parent = nullptr);

    void setRuns(const QList<engine::Run> &waiting);

signals:
    void cancelAsked(const engine::RunId &id);
    void allAsked();

private:
    static constexpr int shown = 3;

    QList<engine::Run> m_runs;
    QWidget *m_content = nullptr;
};

} // namespace ui

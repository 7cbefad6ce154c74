#pragma once

#include "engine/engineclient.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QToolButton;

namespace models {
class TranscriptModel;
}

namespace ui {

class TranscriptView;

// Looks for text in a whole session: reads it in bounded chunks, one at a time, beside the view's own pages, so that
// a search through a million blocks neither blocks nor empties the window. Each answer is the next match.
class FindBar final : public QWidget
{
    Q_OBJECT

public:
    FindBar(engine::EngineClient &client, models::TranscriptModel &model, TranscriptView &view, QWidget *parent = nullptr);

    void open();
    void closeBar();
    void findNext(bool backward);

signals:
    void closed();

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void readChunk();
    bool searchIn(const QList<engine::Block> &blocks);
    void finish(const QString &words);

    static constexpr int chunk = 500;

    engine::EngineClient &m_client;
    models::TranscriptModel &m_model;
    TranscriptView &m_view;
    QLineEdit *m_text = nullptr;
    QToolButton *m_previous = nullptr;
    QToolButton *m_next = nullptr;
    QLabel *m_status = nullptr;
    int m_search = 0; // answers of an earlier search are dropped
    bool m_backward = true;
    bool m_wrapped = false;
    qint64 m_start = 0; // where this search began
    qint64 m_row = 0;   // next row to look at
};

} // namespace ui

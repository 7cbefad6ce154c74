#pragma once

#include "engine/engineclient.h"

#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QRadioButton;

namespace ui {

class StateLabel;

// Makes an image: what it is made of, what happens now, the log, and how it ended.
class BuildPanel final : public QWidget
{
    Q_OBJECT

public:
    explicit BuildPanel(engine::EngineClient &client, QWidget *parent = nullptr);

    // Empty: images can be built.
    void setEngineProblem(const QString &why);
    void focusForm();
    bool isBuilding() const { return m_isBuilding; }

signals:
    void built();
    void failed(const engine::Error &error);

private:
    QWidget *createForm();
    QWidget *createProgress();
    engine::ImageRequest request() const;
    QString problem() const;
    void showButtons();
    void build();
    void begin();
    void take(const engine::ImageProgress &progress);
    void end(bool hasFailed, const QString &message);
    void append(const QString &output);
    void browse();

    engine::EngineClient &m_client;
    bool m_isBuilding = false;
    bool m_isCancelling = false;
    QString m_engineProblem;
    QLineEdit *m_tag = nullptr;
    QRadioButton *m_fromImage = nullptr;
    QRadioButton *m_fromArchive = nullptr;
    QLineEdit *m_base = nullptr;
    QLineEdit *m_archive = nullptr;
    QPushButton *m_browse = nullptr;
    QCheckBox *m_claude = nullptr;
    QCheckBox *m_codex = nullptr;
    QPushButton *m_build = nullptr;
    QPushButton *m_cancel = nullptr;
    QLabel *m_problemText = nullptr;
    QWidget *m_progress = nullptr;
    StateLabel *m_state = nullptr;
    QLabel *m_step = nullptr;
    QProgressBar *m_bar = nullptr;
    QPlainTextEdit *m_log = nullptr;
};

} // namespace ui

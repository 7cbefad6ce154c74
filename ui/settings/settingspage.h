#pragma once

#include "engine/engineclient.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QGroupBox;
class QLabel;
class QLineEdit;
class QSettings;
class QSpinBox;
class QVBoxLayout;

namespace ui {

// What a person sets for this window and for the engine, and what the doctor finds. GUI thread.
class SettingsPage final : public QWidget
{
    Q_OBJECT

public:
    SettingsPage(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);

protected:
    void showEvent(QShowEvent *event) override;

private:
    QGroupBox *createIdentity();
    QGroupBox *createEngine();
    QGroupBox *createAppearance();
    QGroupBox *createChecks();
    void readSettings();
    void readStatus();
    void examine();
    void showFindings(const QList<engine::Finding> &findings);
    void store(const QString &key, const QString &value);
    void showTheme();

    engine::EngineClient &m_client;
    QSettings &m_settings;
    bool m_reading = false;
    QLineEdit *m_name = nullptr;
    QSpinBox *m_concurrency = nullptr;
    QCheckBox *m_continue = nullptr;
    QLabel *m_problem = nullptr;
    QLabel *m_store = nullptr;
    QLabel *m_data = nullptr;
    QComboBox *m_appearance = nullptr;
    QSpinBox *m_text = nullptr;
    QWidget *m_findings = nullptr;
    QVBoxLayout *m_findingsLayout = nullptr;
};

} // namespace ui

#pragma once

#include "engine/types/agent.h"

#include <QMap>
#include <QWidget>

class QCheckBox;
class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSpinBox;

namespace ui {

// An agent as a form that checks while it is typed in. It never holds a key: only the name of a variable.
class AgentForm final : public QWidget
{
    Q_OBJECT

public:
    explicit AgentForm(QWidget *parent = nullptr);

    void setAgent(const engine::Agent &agent);
    // What stands in the fields, over the fields that are not shown.
    engine::Agent agent() const;
    bool isChanged() const;
    // The first problem in words; empty when it can be saved.
    QString problem() const;
    void focusName();

signals:
    void edited();

private:
    void createFields();
    void createHarnessFields();
    void createLimitFields();
    void createComputerFields();
    void setComputer(const engine::Agent &agent);
    void readComputer(engine::Agent &agent) const;
    bool isInContainer() const;
    QWidget *addRow(const QString &label, QWidget *field, const QString &hint = {});
    QSpinBox *number(int lowest, int highest, const QString &suffix, const QString &zero = {});
    void connectFields();
    void check();
    void mark(QWidget *field, const QString &problem);
    void showSentences();
    void showFields(engine::HarnessKind kind);
    void harnessChosen();

    engine::Agent m_agent;
    bool m_setting = false;
    QMap<QWidget *, QString> m_problems;
    QMap<QWidget *, QLabel *> m_hints; // the line below a field: its explanation, or what is wrong
    QMap<QWidget *, QString> m_explanations;
    QFormLayout *m_form = nullptr;
    QLineEdit *m_name = nullptr;
    QComboBox *m_harness = nullptr;
    QComboBox *m_provider = nullptr;
    QLineEdit *m_image = nullptr;        // of a container
    QSpinBox *m_memory = nullptr;        // of a container
    QDoubleSpinBox *m_cpus = nullptr;    // of a container
    QSpinBox *m_processes = nullptr;     // of a container
    QCheckBox *m_gateway = nullptr;      // on the host
    QLineEdit *m_keyEntry = nullptr;     // where the gateway is used
    QSpinBox *m_tokenBudget = nullptr;   // where the gateway is used
    QLineEdit *m_program = nullptr;
    QLineEdit *m_model = nullptr;
    QLineEdit *m_baseUrl = nullptr;
    QLineEdit *m_keyVariable = nullptr;
    QLineEdit *m_recording = nullptr;
    QDoubleSpinBox *m_speed = nullptr;
    QComboBox *m_mode = nullptr;
    QComboBox *m_policy = nullptr;  // Codex
    QComboBox *m_sandbox = nullptr; // Codex
    QComboBox *m_gate = nullptr;
    QLineEdit *m_workspace = nullptr;
    QPlainTextEdit *m_instructions = nullptr;
    QLineEdit *m_allowed = nullptr;
    QLineEdit *m_disallowed = nullptr;
    QSpinBox *m_approvalTimeout = nullptr;
    QSpinBox *m_warm = nullptr;
    QSpinBox *m_maxTurns = nullptr;
    QSpinBox *m_maxAttempts = nullptr;
    QSpinBox *m_maxQueued = nullptr;
};

} // namespace ui

#pragma once

#include "engine/types/run.h"

#include <QWidget>

class QFormLayout;

namespace ui {

// A run's facts as a form: state, times, steps with what each took, tokens, cost, why it waits or failed.
class RunDetails final : public QWidget
{
    Q_OBJECT

public:
    explicit RunDetails(QWidget *parent = nullptr);

    void setRun(const engine::Run &run);
    void clear();

private:
    void add(const QString &label, const QString &value, const QString &tip = {});
    void addTime(const QString &label, const QDateTime &at);

    QFormLayout *m_form = nullptr;
};

} // namespace ui

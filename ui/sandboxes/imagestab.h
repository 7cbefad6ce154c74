#pragma once

#include "models/imagemodel.h"

#include <QWidget>

class QSettings;
class QSplitter;
class QStackedLayout;

namespace ui {

class BuildPanel;
class SandboxTable;

// The images that agents can run in, and the form that makes one.
class ImagesTab final : public QWidget
{
    Q_OBJECT

public:
    ImagesTab(engine::EngineClient &client, QSettings &settings, QWidget *parent = nullptr);
    ~ImagesTab() override;

    void load() { m_model.load(); }
    void focusFilter();
    BuildPanel *build() const { return m_build; }
    const models::ImageModel &model() const { return m_model; }

signals:
    void failed(const engine::Error &error);

protected:
    void showEvent(QShowEvent *event) override;

private:
    QSettings &m_settings;
    models::ImageModel m_model;
    QSplitter *m_splitter = nullptr;
    QStackedLayout *m_stack = nullptr;
    SandboxTable *m_table = nullptr;
    BuildPanel *m_build = nullptr;
};

} // namespace ui

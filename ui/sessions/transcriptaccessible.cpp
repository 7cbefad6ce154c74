#include "ui/sessions/transcriptaccessible.h"
#include "ui/sessions/transcriptview.h"

#include <QAccessibleWidget>

namespace ui {
namespace {

class TranscriptAccessible final : public QAccessibleWidget
{
public:
    explicit TranscriptAccessible(TranscriptView *view) : QAccessibleWidget(view, QAccessible::Document), m_view(view) {}

    QString text(QAccessible::Text kind) const override
    {
        if (kind == QAccessible::Value)
            return m_view->visibleText();
        return QAccessibleWidget::text(kind);
    }

private:
    TranscriptView *m_view;
};

QAccessibleInterface *makeTranscriptAccessible(const QString &, QObject *object)
{
    auto *view = qobject_cast<TranscriptView *>(object);
    return view ? new TranscriptAccessible(view) : nullptr; // owned by Qt's accessibility cache
}

} // namespace

void installTranscriptAccessibility()
{
    QAccessible::installFactory(makeTranscriptAccessible);
}

} // namespace ui

#include "app/doors/visibletext.h"

#include <QStringView>

namespace app {

QString visibleText(const QString &text)
{
    QString shown;
    shown.reserve(text.size());
    for (const char32_t character : text.toUcs4()) {
        const QChar::Category category = QChar::category(character);
        const bool hidden = category == QChar::Other_Control || category == QChar::Other_Format ||
                            category == QChar::Separator_Line || category == QChar::Separator_Paragraph ||
                            category == QChar::Other_Surrogate;
        if (hidden && character != U'\n' && character != U'\t')
            shown += QStringLiteral("<U+%1>").arg(uint(character), 4, 16, QLatin1Char('0')).toUpper();
        else
            shown += QString::fromUcs4(&character, 1);
    }
    return shown;
}

} // namespace app

#pragma once

#include <QPalette>
#include <QTextDocument>

namespace ui {

// Colours keywords, strings, comments and numbers of the fenced code blocks of a document that came from Markdown.
void highlightCode(QTextDocument &document, const QPalette &palette);

} // namespace ui

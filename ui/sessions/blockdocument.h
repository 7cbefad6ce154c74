#pragma once

#include "engine/types/block.h"

#include <QFont>
#include <QPalette>
#include <QTextDocument>

namespace ui {

// How a transcript document is set: `width` in pixels; `whole` lifts the caps.
struct DocumentStyle
{
    QPalette palette;
    QFont font;
    int width = 600;
    bool whole = false;
};

// A laid-out piece of transcript. `hidden` counts the characters left out by the cap.
struct BlockDocument
{
    std::unique_ptr<QTextDocument> document;
    qint64 hidden = 0;
};

constexpr qsizetype layoutCap = 64 * 1024;

// Agent text is not trusted: no HTML, and no image or other resource is ever loaded.
BlockDocument markdownDocument(const QString &text, const DocumentStyle &style);
BlockDocument plainDocument(const QString &text, const DocumentStyle &style, bool monospace, const QColor &colour = {});
// Input (or its difference) and output of a tool call.
BlockDocument toolDocument(const engine::Block &block, const DocumentStyle &style);

} // namespace ui

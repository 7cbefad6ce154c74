#pragma once

#include <QStringList>

namespace models {

// What one line can say of a tool call, read from its arguments (JSON text). Anything unreadable leaves it empty.
struct ToolSummary
{
    QString line; // command, path, pattern or address; the first text argument of an unknown tool
    QString path;
    bool edit = false; // oldText becomes newText; a new file has no oldText
    QString oldText;
    QString newText;
    QStringList changed; // files of a patch
};
ToolSummary toolSummary(const QString &tool, const QString &input);

// Indented JSON with keys in their order; the text itself when it is not JSON.
QString prettyJson(const QString &text);

} // namespace models

#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QString>
#include <tl/expected.hpp>

namespace engine::replay {

// One line of a recording: {"dir":"in|out|stderr|exit|meta|note","t":seconds,"msg":...,"when":"allow|deny"}.
struct Entry
{
    enum class Kind { In, Out, ErrorOutput, Exit };

    Kind kind = Kind::Out;
    double at = 0;        // seconds
    QByteArray message;   // JSON text; ErrorOutput: plain text
    QString type;         // In, Out: the message's type
    QString subtype;      // of a control request
    QString requestId;    // of a control request or response
    QString when;         // played only after such a decision; empty: always
    int exitCode = 0;
};

// What follows one prompt, the prompt's own line left out.
struct Turn
{
    QList<Entry> entries;
    bool hasResult = false;
};

struct Recording
{
    QList<Entry> prologue; // up to the first prompt
    QList<Turn> turns;
    QList<QByteArray> ids; // messages, tools, requests, lines: to be made fresh when played again
    QList<QByteArray> sessionIds; // that the recorded session went by
};

// A file or a Qt resource. The error is a sentence for a person.
tl::expected<Recording, QString> loadRecording(const QString &path);

// Replaces JSON strings that are exactly a key of `names`.
QByteArray renamed(const QByteArray &json, const QHash<QByteArray, QByteArray> &names);

} // namespace engine::replay

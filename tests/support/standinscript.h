#pragma once

#include <QByteArray>
#include <QList>
#include <QMap>
#include <QStringList>

// What a request to the Messages API asks of the stand-in: the newest [[directive arguments]] in the user texts and how
// many tool rounds were done since. One directive is one turn.
struct StandInPlan
{
    QString name = QStringLiteral("text");
    QString arguments;
    int rounds = 0;
    QString model;
    bool stream = false;
    int messageCount = 0;
    QString lastUserText; // newest user text that is not a reminder of the program's own
    int roundsSinceText = 0;
    QString lastToolResult;
};
StandInPlan standInPlan(const QByteArray &body);

// A part of a streamed answer: written `delayMs` after the one before.
struct StandInStep
{
    int delayMs = 0;
    QByteArray bytes; // server-sent events, unframed
};

struct StandInAnswer
{
    int status = 200;
    QByteArray body; // JSON; unless streamed
    QList<StandInStep> steps;
    bool cut = false; // after the steps the socket closes in the middle of the message
};
StandInAnswer standInAnswer(const StandInPlan &plan);
StandInAnswer standInError(int status, const QString &message = {});

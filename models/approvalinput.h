#pragma once

#include "engine/types/approval.h"
#include "models/linediff.h"

#include <QMap>
#include <QStringList>

namespace models {

// A part of an action as it is shown, whole: either text or a diff.
struct ActionPart
{
    QString label;
    QString text;
    QList<DiffLine> diff; // not empty: shown instead of the text

    bool operator==(const ActionPart &) const = default;
};
// Everything the approval would let run: command, file changes, the other arguments, folder.
QList<ActionPart> actionParts(const engine::Approval &approval);

struct QuestionOption
{
    QString label;
    QString description;

    bool operator==(const QuestionOption &) const = default;
};
struct Question
{
    QString text;
    QString header;
    bool isMultiple = false;
    QList<QuestionOption> options;

    bool operator==(const Question &) const = default;
};
// Empty when the input holds none that can be read.
QList<Question> questionsOf(const QByteArray &input);
// The input with {"answers": {question: answer}} added: the form the harness takes.
QByteArray withAnswers(const QByteArray &input, const QMap<QString, QString> &answers);
QString planOf(const QByteArray &input);

// Why the text is not a JSON object, in words; empty when it is one.
QString jsonObjectProblem(const QString &text);
bool isSameJson(const QString &first, const QString &second);

// A fact found by a rule, with the reason it is named. No verdict: a person weighs it.
struct RiskFact
{
    QString what;
    QString why;

    bool operator==(const RiskFact &) const = default;
};
QList<RiskFact> riskFacts(const engine::Approval &approval);

} // namespace models

#pragma once

#include "app/doors/console.h"

// Keeps what a command wrote and answers its question at once.
class RecordingConsole final : public app::Console
{
public:
    void out(const QString &text) override { output += text; }
    void err(const QString &text) override { errors += text; }
    bool canAsk() const override { return person; }
    void ask(const QString &question, std::function<void(const QString &)> answered) override
    {
        questions += question;
        answered(answer);
    }

    QString output;
    QString errors;
    QString questions;
    QString answer;
    bool person = false;
};

#pragma once

#include <QByteArray>
#include <QList>
#include <QStringList>
#include <memory>

class QThread;
struct StandInOpenAiState;

// A stand-in for the OpenAI Responses API on 127.0.0.1 (real wire format, HTTP/1.1, no model); see StandInAnthropic, whose
// grammar it shares. The reply is chosen by the newest directive in the user's text:
//   [[text WORDS]] [[think WORDS]] [[exec CMD]] [[escalate CMD]] outside of the sandbox   [[add PATH TEXT]] a patch
//   [[tool NAME JSON]] of the console   [[two CMD ;; CMD]] two commands in one answer   [[seq CMD ;; CMD]] one a round
//   [[slow N MS]] N words, MS apart   [[cut N]] the socket closes after N words   [[usage IN OUT]]
//   [[status CODE]] an error always   [[statusonce CODE K]] an error K times, then text
// The key "bad-key" is answered with 401.
class StandInOpenAi
{
public:
    // One request to /v1/responses.
    struct Request
    {
        QString model;
        QString directive; // "exec", "text", ...
        QString arguments;
        QStringList userTexts; // all of them, oldest first
        int toolRounds = 0;    // since the directive
        QString lastToolResult;
        QString threadId; // the harness's own
        QString key;
    };

    explicit StandInOpenAi(quint16 port = 0);
    ~StandInOpenAi();
    StandInOpenAi(const StandInOpenAi &) = delete;
    StandInOpenAi &operator=(const StandInOpenAi &) = delete;

    quint16 port() const { return m_port; } // 0: it could not listen
    QList<Request> requests() const;
    QStringList paths() const;

private:
    std::unique_ptr<StandInOpenAiState> m_state;
    std::unique_ptr<QThread> m_thread;
    quint16 m_port = 0;
};

#pragma once

#include <QByteArray>
#include <QList>
#include <QStringList>
#include <memory>

class QThread;
struct StandInState;

// A stand-in for the Anthropic Messages API on 127.0.0.1 (real wire format, HTTP/1.1, no model). It listens from its
// constructor on and answers in a thread of its own, so a test may block; every function here may be called from any
// thread. The reply is chosen by the newest directive in the user's text:
//   [[text WORDS]] [[think WORDS]] [[bash CMD]] [[write PATH CONTENT]] [[read PATH]] [[tool NAME JSON]]
//   [[two CMD ;; CMD]] two tools in one message   [[seq CMD ;; CMD]] one tool a round   [[loop CMD]] a tool for ever
//   [[slow N MS]] N words, MS apart   [[stall MS]] silence in the middle   [[cut N]] the socket closes in the middle
//   [[status CODE]] an error always   [[statusonce CODE K]] an error K times, then text   [[usage IN OUT]]
// The key "bad-key" is answered with 401.
class StandInAnthropic
{
public:
    // One request to /v1/messages.
    struct Request
    {
        QString path;
        QString model;
        int messageCount = 0;
        QString directive; // "bash", "text", ...
        QString arguments;
        QString lastUserText; // newest user text, reminders of the program left out
        int toolRounds = 0;   // since that text
        QString lastToolResult;
        QString sessionHeader; // the harness's own session id
        int retry = 0;         // as the program counts it
        QString key;
        bool disconnected = false; // the program went away before the end of the answer
    };

    explicit StandInAnthropic(quint16 port = 0);
    ~StandInAnthropic();
    StandInAnthropic(const StandInAnthropic &) = delete;
    StandInAnthropic &operator=(const StandInAnthropic &) = delete;

    quint16 port() const; // 0: it could not listen
    QList<Request> requests() const;
    // Paths of all requests, also HEAD / and count_tokens.
    QStringList paths() const;
    void clear();

private:
    std::unique_ptr<StandInState> m_state;
    std::unique_ptr<QThread> m_thread;
    quint16 m_port = 0;
};

#pragma once

#include <QByteArray>
#include <QStringList>
#include <optional>

namespace app {

// A line between the command line and the instance that carries its command out. The command sends Request, then
// Answer to each Ask; the instance sends Hello at once, then Out, Err and Ask, and Exit last.
struct ControlMessage
{
    enum class Kind { Request, Answer, Hello, Out, Err, Ask, Exit };

    Kind kind = Kind::Hello;
    QString text;          // Answer, Out, Err, Ask; Hello: "window" or "headless"
    int number = 0;        // Exit: the code
    QStringList words;     // Request: the command line without the program's name
    QString workingFolder; // Request
    QString input;         // Request: what --input or - named, read by the sender
    bool canAsk = false;   // Request: a person sits at the sender's terminal

    bool operator==(const ControlMessage &) const = default;
};

QByteArray encode(const ControlMessage &message); // with its line feed
std::optional<ControlMessage> decodeControl(const QByteArray &line);

} // namespace app

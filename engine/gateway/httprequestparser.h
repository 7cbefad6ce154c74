#pragma once

#include <QByteArray>
#include <QList>
#include <memory>
#include <utility>

namespace engine {

struct HttpRequest
{
    QByteArray method;
    QByteArray target;
    QList<std::pair<QByteArray, QByteArray>> headers; // in order, names as they came
    QByteArray body;
    bool keepAlive = false;

    // Of the first header of that name, compared without case.
    QByteArray header(const QByteArray &name) const;
};

// Incremental parser of HTTP/1.1 requests, one after the other. What cannot be one breaks it for good.
class HttpRequestParser final
{
public:
    enum class State { NeedMore, Ready, TooLarge, Broken };

    HttpRequestParser();
    ~HttpRequestParser();

    // How many bytes were used; the rest belongs to the next request.
    qsizetype feed(const QByteArray &bytes);
    State state() const { return m_state; }
    // The client wants to hear "100 Continue" before it sends the body.
    bool expectsContinue() const { return m_expectsContinue; }
    void continued() { m_expectsContinue = false; }
    // Hands out the request and starts with the next one.
    HttpRequest take();

private:
    struct Parser;
    struct Callbacks;

    void endHeader();

    std::unique_ptr<Parser> m_parser;
    State m_state = State::NeedMore;
    HttpRequest m_request;
    QByteArray m_name;
    QByteArray m_value;
    bool m_inValue = false;
    bool m_inBody = false;
    bool m_expectsContinue = false;
    qsizetype m_headBytes = 0;
};

} // namespace engine

#pragma once

#include <QByteArray>
#include <QList>
#include <QPair>
#include <http_parser.h>

namespace engine {

struct HttpRequest
{
    QByteArray method;
    QByteArray target;
    QList<QPair<QByteArray, QByteArray>> headers; // names in lower case
    QByteArray body;
    bool keepAlive = true;
    bool http10 = false;

    QByteArray header(const char *name) const;
    int headerCount(const char *name) const;
};

// Requests of one connection out of bytes that may be hostile, one at a time: nothing is parsed past a request until
// it was taken.
class RequestParser
{
public:
    enum class Step { NeedMore, Head, Whole, Broken, TooLarge };

    explicit RequestParser(qint64 maxBody);
    void feed(const QByteArray &bytes) { m_waiting.append(bytes); }
    // Head comes once per request, before its body is taken; then Whole.
    Step next();
    HttpRequest &request() { return m_request; }
    qint64 takeUsed() { return std::exchange(m_used, 0); } // bytes parsed since the last call
    // Gives up what was not parsed; counts it too.
    qint64 discard() { return takeUsed() + std::exchange(m_waiting, {}).size(); }
    bool isBetweenRequests() const { return !m_begun && m_waiting.isEmpty(); }
    QByteArray error() const { return m_error; }

private:
    static int onBegin(http_parser *parser);
    static int onTarget(http_parser *parser, const char *at, size_t length);
    static int onField(http_parser *parser, const char *at, size_t length);
    static int onValue(http_parser *parser, const char *at, size_t length);
    static int onHead(http_parser *parser);
    static int onBody(http_parser *parser, const char *at, size_t length);
    static int onWhole(http_parser *parser);
    bool countHead(size_t length);

    http_parser m_parser{};
    http_parser_settings m_settings{};
    HttpRequest m_request;
    QByteArray m_waiting;
    QByteArray m_error;
    qint64 m_maxBody;
    qint64 m_headBytes = 0;
    qint64 m_used = 0;
    bool m_begun = false;
    bool m_inValue = false;
    bool m_headDone = false;
    bool m_headTold = false;
    bool m_whole = false;
    bool m_tooLarge = false;
};

} // namespace engine

#include "engine/gateway/requestparser.h"

namespace engine {

namespace {

constexpr qint64 maxHeadBytes = 64 * 1024;
constexpr qsizetype maxHeaders = 200;

RequestParser *parserOf(http_parser *parser)
{
    return static_cast<RequestParser *>(parser->data);
}

} // namespace

QByteArray HttpRequest::header(const char *name) const
{
    for (const auto &[key, value] : headers) {
        if (key == name)
            return value;
    }
    return {};
}

int HttpRequest::headerCount(const char *name) const
{
    int count = 0;
    for (const auto &[key, value] : headers)
        count += key == name;
    return count;
}

RequestParser::RequestParser(qint64 maxBody) : m_maxBody(maxBody)
{
    http_parser_init(&m_parser, HTTP_REQUEST);
    m_parser.data = this;
    m_settings.on_message_begin = &RequestParser::onBegin;
    m_settings.on_url = &RequestParser::onTarget;
    m_settings.on_header_field = &RequestParser::onField;
    m_settings.on_header_value = &RequestParser::onValue;
    m_settings.on_headers_complete = &RequestParser::onHead;
    m_settings.on_body = &RequestParser::onBody;
    m_settings.on_message_complete = &RequestParser::onWhole;
}

// Stops at the first whole request: the pause is lifted by the next call, after the request was taken.
RequestParser::Step RequestParser::next()
{
    if (!m_error.isEmpty())
        return m_tooLarge ? Step::TooLarge : Step::Broken;
    if (!m_waiting.isEmpty() && !m_whole) {
        http_parser_pause(&m_parser, 0);
        const size_t done =
            http_parser_execute(&m_parser, &m_settings, m_waiting.constData(), size_t(m_waiting.size()));
        m_used += qint64(done);
        m_waiting.remove(0, qsizetype(done));
        const http_errno failure = HTTP_PARSER_ERRNO(&m_parser);
        if (failure != HPE_OK && failure != HPE_PAUSED) {
            if (m_error.isEmpty())
                m_error = http_errno_description(failure);
        } else if (m_parser.upgrade) {
            m_error = "the request asks for another protocol";
        }
    }
    if (!m_error.isEmpty())
        return m_tooLarge ? Step::TooLarge : Step::Broken;
    if (m_headDone && !m_headTold) {
        m_headTold = true;
        return Step::Head;
    }
    if (m_whole) {
        m_whole = m_begun = false;
        return Step::Whole;
    }
    return Step::NeedMore;
}

bool RequestParser::countHead(size_t length)
{
    m_headBytes += qint64(length);
    m_tooLarge = m_headBytes > maxHeadBytes || m_request.headers.size() > maxHeaders;
    if (m_tooLarge)
        m_error = "its head is larger than 64 KiB or has more than 200 headers";
    return !m_tooLarge;
}

int RequestParser::onBegin(http_parser *parser)
{
    RequestParser *self = parserOf(parser);
    self->m_request = {};
    self->m_headBytes = 0;
    self->m_begun = true;
    self->m_inValue = self->m_headDone = self->m_headTold = false;
    return 0;
}

int RequestParser::onTarget(http_parser *parser, const char *at, size_t length)
{
    RequestParser *self = parserOf(parser);
    self->m_request.target.append(at, qsizetype(length));
    return self->countHead(length) ? 0 : 1;
}

int RequestParser::onField(http_parser *parser, const char *at, size_t length)
{
    RequestParser *self = parserOf(parser);
    if (self->m_headDone) // a trailer after a chunked body: never passed on
        return self->countHead(length) ? 0 : 1;
    if (self->m_inValue || self->m_request.headers.isEmpty())
        self->m_request.headers.append({QByteArray(), QByteArray()});
    self->m_inValue = false;
    self->m_request.headers.last().first.append(QByteArray(at, qsizetype(length)).toLower());
    return self->countHead(length) ? 0 : 1;
}

int RequestParser::onValue(http_parser *parser, const char *at, size_t length)
{
    RequestParser *self = parserOf(parser);
    if (!self->m_headDone && !self->m_request.headers.isEmpty()) {
        self->m_inValue = true;
        self->m_request.headers.last().second.append(at, qsizetype(length));
    }
    return self->countHead(length) ? 0 : 1;
}

int RequestParser::onHead(http_parser *parser)
{
    RequestParser *self = parserOf(parser);
    HttpRequest &request = self->m_request;
    request.method = http_method_str(http_method(parser->method));
    request.keepAlive = http_should_keep_alive(parser);
    request.http10 = parser->http_major == 1 && parser->http_minor == 0;
    self->m_headDone = true;
    if (parser->http_major != 1 || request.headerCount("content-length") > 1 || request.headerCount("host") > 1) {
        self->m_error = "it is not HTTP/1 or has a header twice that may come only once";
        return -1;
    }
    const bool sized = request.headerCount("content-length") > 0;
    if (sized && request.header("content-length").toLongLong() > self->m_maxBody) {
        self->m_tooLarge = true;
        self->m_error = "its body is larger than " + QByteArray::number(self->m_maxBody) + " bytes";
        return -1;
    }
    return 0;
}

int RequestParser::onBody(http_parser *parser, const char *at, size_t length)
{
    RequestParser *self = parserOf(parser);
    self->m_tooLarge = self->m_request.body.size() + qint64(length) > self->m_maxBody;
    if (self->m_tooLarge) {
        self->m_error = "its body is larger than " + QByteArray::number(self->m_maxBody) + " bytes";
        return 1;
    }
    self->m_request.body.append(at, qsizetype(length));
    return 0;
}

int RequestParser::onWhole(http_parser *parser)
{
    RequestParser *self = parserOf(parser);
    self->m_whole = true;
    http_parser_pause(parser, 1);
    return 0;
}

} // namespace engine

#include "sandbox/docker/httpparser.h"

#include <http_parser.h>

namespace sandbox {

namespace {

constexpr qsizetype maxHeadBytes = 64 * 1024;

} // namespace

struct HttpReplyParser::Parser
{
    http_parser parser{};
};

struct HttpReplyParser::Callbacks
{
    static HttpReplyParser &self(http_parser *parser) { return *static_cast<HttpReplyParser *>(parser->data); }

    static int name(http_parser *parser, const char *at, size_t length)
    {
        HttpReplyParser &reply = self(parser);
        if (reply.m_inValue)
            reply.endHeader();
        reply.m_name.append(at, qsizetype(length));
        return 0;
    }

    static int value(http_parser *parser, const char *at, size_t length)
    {
        self(parser).m_inValue = true;
        self(parser).m_value.append(at, qsizetype(length));
        return 0;
    }

    // 1: no body follows. 2: nor anything of HTTP.
    static int headersComplete(http_parser *parser)
    {
        HttpReplyParser &reply = self(parser);
        if (reply.m_inValue)
            reply.endHeader();
        reply.m_status = int(parser->status_code);
        if (reply.m_status >= 100 && reply.m_status < 200 && reply.m_status != 101)
            return 1; // an interim one: the real reply follows
        reply.m_headComplete = true;
        reply.m_keepAlive = http_should_keep_alive(parser) != 0;
        reply.m_state = State::Body;
        if (reply.m_status == 101) {
            reply.m_upgrade = true;
            return 2;
        }
        return reply.m_isHead ? 1 : 0;
    }

    static int body(http_parser *parser, const char *at, size_t length)
    {
        if (self(parser).m_onBody)
            self(parser).m_onBody(at, qsizetype(length));
        return 0;
    }

    static int complete(http_parser *parser)
    {
        HttpReplyParser &reply = self(parser);
        if (!reply.m_headComplete) { // interim
            reply.m_headers.clear();
            return 0;
        }
        reply.m_state = State::Done;
        http_parser_pause(parser, 1); // the next byte is not ours
        return 0;
    }
};

namespace {

http_parser_settings makeSettings(http_data_cb name, http_data_cb value, http_cb head, http_data_cb body, http_cb complete)
{
    http_parser_settings settings{};
    settings.on_header_field = name;
    settings.on_header_value = value;
    settings.on_headers_complete = head;
    settings.on_body = body;
    settings.on_message_complete = complete;
    return settings;
}

} // namespace

HttpReplyParser::HttpReplyParser() : m_parser(std::make_unique<Parser>())
{
    begin(false);
}

HttpReplyParser::~HttpReplyParser() = default;

void HttpReplyParser::begin(bool isHead)
{
    http_parser_init(&m_parser->parser, HTTP_RESPONSE);
    m_parser->parser.data = this;
    m_state = State::Head;
    m_isHead = isHead;
    m_headComplete = m_upgrade = m_keepAlive = m_inValue = false;
    m_status = 0;
    m_headBytes = 0;
    m_name.clear();
    m_value.clear();
    m_headers.clear();
    m_error.clear();
}

void HttpReplyParser::endHeader()
{
    m_headers.insert(m_name.toLower(), m_value);
    m_name.clear();
    m_value.clear();
    m_inValue = false;
}

qsizetype HttpReplyParser::feed(const char *bytes, qsizetype count)
{
    static const http_parser_settings settings = makeSettings(Callbacks::name, Callbacks::value, Callbacks::headersComplete,
                                                              Callbacks::body, Callbacks::complete);
    if (m_state == State::Done || m_state == State::Broken || count == 0)
        return 0;
    const bool wasHead = !m_headComplete;
    const auto used = qsizetype(http_parser_execute(&m_parser->parser, &settings, bytes, size_t(count)));
    const auto problem = HTTP_PARSER_ERRNO(&m_parser->parser);
    if (wasHead && !m_headComplete)
        m_headBytes += used;
    if (m_headBytes > maxHeadBytes) {
        m_state = State::Broken;
        m_error = QStringLiteral("a head of more than %1 bytes").arg(maxHeadBytes);
    } else if (m_upgrade) {
        m_state = State::Done;
    } else if (problem != HPE_OK && problem != HPE_PAUSED) {
        m_state = State::Broken;
        m_error = QString::fromLatin1(http_errno_description(problem));
    }
    return used;
}

void HttpReplyParser::finish()
{
    static const http_parser_settings settings = makeSettings(Callbacks::name, Callbacks::value, Callbacks::headersComplete,
                                                              Callbacks::body, Callbacks::complete);
    if (m_state == State::Done || m_state == State::Broken)
        return;
    http_parser_execute(&m_parser->parser, &settings, nullptr, 0);
    if (m_state != State::Done) {
        m_state = State::Broken;
        m_error = QStringLiteral("a reply that ends in its middle");
    }
}

} // namespace sandbox

#include "engine/gateway/httprequestparser.h"

#include <http_parser.h>

namespace engine {

namespace {

constexpr qsizetype maxRequestHead = 64 * 1024;
constexpr qsizetype maxRequestBody = 64 * 1024 * 1024;

} // namespace

struct HttpRequestParser::Parser
{
    http_parser parser{};
};

struct HttpRequestParser::Callbacks
{
    static HttpRequestParser &self(http_parser *parser) { return *static_cast<HttpRequestParser *>(parser->data); }

    static int target(http_parser *parser, const char *at, size_t length)
    {
        self(parser).m_request.target.append(at, qsizetype(length));
        return 0;
    }

    static int name(http_parser *parser, const char *at, size_t length)
    {
        if (self(parser).m_inValue)
            self(parser).endHeader();
        self(parser).m_name.append(at, qsizetype(length));
        return 0;
    }

    static int value(http_parser *parser, const char *at, size_t length)
    {
        self(parser).m_inValue = true;
        self(parser).m_value.append(at, qsizetype(length));
        return 0;
    }

    static int headersComplete(http_parser *parser)
    {
        HttpRequestParser &requests = self(parser);
        if (!requests.m_name.isEmpty())
            requests.endHeader();
        requests.m_inBody = true;
        requests.m_request.method = http_method_str(http_method(parser->method));
        requests.m_expectsContinue = requests.m_request.header("expect").toLower() == "100-continue";
        return parser->upgrade ? -1 : 0; // neither CONNECT nor another protocol
    }

    static int body(http_parser *parser, const char *at, size_t length)
    {
        HttpRequestParser &requests = self(parser);
        if (requests.m_request.body.size() + qsizetype(length) > maxRequestBody) {
            requests.m_state = State::TooLarge;
            return -1;
        }
        requests.m_request.body.append(at, qsizetype(length));
        return 0;
    }

    static int complete(http_parser *parser)
    {
        self(parser).m_request.keepAlive = http_should_keep_alive(parser) != 0;
        self(parser).m_state = State::Ready;
        http_parser_pause(parser, 1);
        return 0;
    }

    static http_parser_settings settings()
    {
        http_parser_settings all{};
        all.on_url = target;
        all.on_header_field = name;
        all.on_header_value = value;
        all.on_headers_complete = headersComplete;
        all.on_body = body;
        all.on_message_complete = complete;
        return all;
    }
};

QByteArray HttpRequest::header(const QByteArray &name) const
{
    for (const auto &[key, value] : headers) {
        if (key.compare(name, Qt::CaseInsensitive) == 0)
            return value;
    }
    return {};
}

HttpRequestParser::HttpRequestParser() : m_parser(std::make_unique<Parser>())
{
    http_parser_init(&m_parser->parser, HTTP_REQUEST);
    m_parser->parser.data = this;
}

HttpRequestParser::~HttpRequestParser() = default;

void HttpRequestParser::endHeader()
{
    m_request.headers.append({m_name, m_value});
    m_name.clear();
    m_value.clear();
    m_inValue = false;
}

qsizetype HttpRequestParser::feed(const QByteArray &bytes)
{
    static const http_parser_settings settings = Callbacks::settings();
    if (m_state != State::NeedMore || bytes.isEmpty())
        return 0;
    const auto used = qsizetype(http_parser_execute(&m_parser->parser, &settings, bytes.constData(), size_t(bytes.size())));
    if (!m_inBody && (m_headBytes += used) > maxRequestHead)
        m_state = State::TooLarge;
    const auto problem = HTTP_PARSER_ERRNO(&m_parser->parser);
    if (m_state == State::NeedMore && problem != HPE_OK)
        m_state = State::Broken;
    return used;
}

HttpRequest HttpRequestParser::take()
{
    HttpRequest request = std::move(m_request);
    m_request = {};
    m_state = State::NeedMore;
    m_inBody = m_expectsContinue = false;
    m_headBytes = 0;
    http_parser_pause(&m_parser->parser, 0);
    http_parser_init(&m_parser->parser, HTTP_REQUEST);
    m_parser->parser.data = this;
    return request;
}

} // namespace engine

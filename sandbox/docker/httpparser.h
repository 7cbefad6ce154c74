#pragma once

#include <QByteArray>
#include <QMap>
#include <functional>
#include <memory>

namespace sandbox {

// Incremental parser of HTTP/1.1 replies. Stops at the end of each reply and after the head of an upgraded one: what
// follows belongs to somebody else.
class HttpReplyParser final
{
public:
    enum class State { Head, Body, Done, Broken };

    HttpReplyParser();
    ~HttpReplyParser();

    // A reply to HEAD has no body whatever its head says.
    void begin(bool isHead);
    // How many bytes were used; all of them unless the reply ended or broke.
    qsizetype feed(const char *bytes, qsizetype count);
    // The peer ended: completes a body without a length.
    void finish();

    State state() const { return m_state; }
    bool headComplete() const { return m_headComplete; }
    bool isUpgrade() const { return m_upgrade; }
    bool keepAlive() const { return m_keepAlive; }
    int status() const { return m_status; }
    const QMap<QByteArray, QByteArray> &headers() const { return m_headers; }
    QString error() const { return m_error; }
    void setOnBody(std::function<void(const char *, qsizetype)> onBody) { m_onBody = std::move(onBody); }

private:
    struct Callbacks;
    void endHeader();

    struct Parser;
    std::unique_ptr<Parser> m_parser;
    State m_state = State::Head;
    bool m_isHead = false;
    bool m_headComplete = false;
    bool m_upgrade = false;
    bool m_keepAlive = false;
    bool m_inValue = false;
    int m_status = 0;
    qsizetype m_headBytes = 0;
    QByteArray m_name;
    QByteArray m_value;
    QMap<QByteArray, QByteArray> m_headers;
    QString m_error;
    std::function<void(const char *, qsizetype)> m_onBody;
};

} // namespace sandbox

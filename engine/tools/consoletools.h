#pragma once

#include "engine/harness/driver.h"

#include <functional>

namespace engine {

// The tools that every session gets from the console. Engine thread.
class ConsoleTools final : public ToolHost
{
public:
    // JSON object text about the session with this native id; "{}" when there is none.
    void setSessionInfo(std::function<QByteArray(const QString &nativeSessionId)> info) { m_sessionInfo = std::move(info); }

    QList<ToolDefinition> tools() const override;
    ToolReply call(const QString &name, const QByteArray &arguments) override;

private:
    std::function<QByteArray(const QString &)> m_sessionInfo;
};

} // namespace engine

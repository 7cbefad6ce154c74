#pragma once

#include "engine/harness/driver.h"

// One event a line, for comparing with text.
QString describe(const engine::HarnessEvent &event);

struct FakeTools final : engine::ToolHost
{
    QList<engine::ToolDefinition> tools() const override;
    engine::ToolReply call(const QString &name, const QByteArray &arguments) override;

    QByteArray lastArguments;
    bool throws = false;
};

struct RecordedLine
{
    QString dir; // "in", "out", "stderr", "exit"
    QByteArray bytes;
    int exitCode = 0;
};

QList<RecordedLine> readRecording(const QString &path);
// "2.1.197/02_perm_allow" of every recording.
QStringList recordingNames();
QString recordingPath(const QString &name);
// The first session id that a line carries.
QString recordedSession(const QList<RecordedLine> &lines);
engine::LaunchContext contextFor(const QString &nativeSessionId, engine::Gate gate = engine::Gate::Native);

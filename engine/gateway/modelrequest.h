#pragma once

#include "engine/types/ids.h"

namespace engine {

enum class ApiKind { Anthropic, OpenAi };

// One request of a harness to the model's API that was forwarded, after its end. Holds no credential and no content.
struct ModelRequest
{
    RunId run;
    QString path;
    QString model;
    int status = 0;          // as told to the harness; 0: the harness left before there was one
    bool complete = false;   // the whole answer was passed on
    bool metered = false;    // token counts were found in the answer
    qint64 inputTokens = 0;  // as the API counts: OpenAI's includes what was read from its cache
    qint64 outputTokens = 0;
    qint64 cacheRead = 0;
    qint64 cacheWrite = 0;
    qint64 firstByteMs = -1; // from the whole request; -1: none came
    qint64 totalMs = 0;
    qint64 bytes = 0;        // of the answer's body
};

// Checked before a request is forwarded; 0: no limit.
struct GatewayBudget
{
    qint64 maxTokensPerRun = 0;
    int maxRequestsPerMinute = 0;
};

} // namespace engine

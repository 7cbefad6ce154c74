// A stand-in for the Claude Code program: the same wire format, no model, no start-up cost. For benchmarks and fault tests
// that need a harness to act at an exact moment; everything else uses the real program.
//
// Prompts: "text WORDS" answers; "stream N" sends N deltas; "ask N" asks N permissions at once; "ask-odd KIND" sends one odd
// request; "hang" never ends; "die" exits in the middle; "burst N" writes N tool rounds without waiting.
// With STUB_STAMPS=file every decision that arrives is appended as "<request id> <CLOCK_MONOTONIC ns> <behaviour>".
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <unistd.h>

using nlohmann::json;

namespace {

std::string sessionId;
std::string transcriptPath;
int counter = 0;
std::map<std::string, std::string> open; // request id -> tool use id

void write(const json &message)
{
    std::string line = message.dump();
    line += '\n';
    size_t done = 0;
    while (done < line.size()) {
        const ssize_t n = ::write(1, line.data() + done, line.size() - done);
        if (n <= 0)
            std::exit(3);
        done += size_t(n);
    }
}

std::string id(const char *prefix)
{
    return std::string(prefix) + "_" + std::to_string(::getpid()) + "_" + std::to_string(++counter);
}

void remember(const json &entry)
{
    std::ofstream(transcriptPath, std::ios::app) << entry.dump() << '\n';
}

json withSession(json message)
{
    message["session_id"] = sessionId;
    message["uuid"] = id("u");
    return message;
}

void streamText(const std::string &messageId, const std::vector<std::string> &words)
{
    const auto event = [&](json inner) {
        write(withSession({{"type", "stream_event"}, {"event", std::move(inner)}, {"parent_tool_use_id", nullptr}}));
    };
    event({{"type", "message_start"},
           {"message", {{"id", messageId}, {"type", "message"}, {"role", "assistant"}, {"model", "stub"}, {"content", json::array()}}}});
    event({{"type", "content_block_start"}, {"index", 0}, {"content_block", {{"type", "text"}, {"text", ""}}}});
    std::string whole;
    for (const std::string &word : words) {
        event({{"type", "content_block_delta"}, {"index", 0}, {"delta", {{"type", "text_delta"}, {"text", word}}}});
        whole += word;
    }
    write(withSession({{"type", "assistant"},
                       {"message", {{"id", messageId}, {"type", "message"}, {"role", "assistant"}, {"model", "stub"},
                                    {"content", json::array({{{"type", "text"}, {"text", whole}}})}}},
                       {"parent_tool_use_id", nullptr}}));
    event({{"type", "content_block_stop"}, {"index", 0}});
    event({{"type", "message_stop"}});
}

void result(bool isError, const std::string &reason)
{
    remember({{"type", "assistant"}, {"sessionId", sessionId}, {"reason", reason}});
    write(withSession({{"type", "result"}, {"subtype", isError ? "error_during_execution" : "success"}, {"is_error", isError},
                       {"terminal_reason", reason}, {"num_turns", 1}, {"result", "ok"}, {"total_cost_usd", 0.001 * counter},
                       {"usage", {{"input_tokens", 10}, {"output_tokens", 5}}}}));
}

void tool(const std::string &toolUseId, const json &input)
{
    write(withSession({{"type", "assistant"},
                       {"message", {{"id", id("msg")}, {"type", "message"}, {"role", "assistant"}, {"model", "stub"},
                                    {"content", json::array({{{"type", "tool_use"}, {"id", toolUseId}, {"name", "Bash"}, {"input", input}}})}}},
                       {"parent_tool_use_id", nullptr}}));
}

void toolResult(const std::string &toolUseId, const std::string &text, bool isError)
{
    write(withSession({{"type", "user"},
                       {"message", {{"role", "user"}, {"content", json::array({{{"type", "tool_result"}, {"tool_use_id", toolUseId},
                                                                                {"content", text}, {"is_error", isError}}})}}},
                       {"parent_tool_use_id", nullptr}}));
}

void ask(int count)
{
    for (int i = 0; i < count; ++i) {
        const std::string toolUseId = id("toolu");
        const std::string requestId = id("req");
        const json input = {{"command", "work " + std::to_string(i)}, {"description", "stub"}};
        tool(toolUseId, input);
        open[requestId] = toolUseId;
        write({{"type", "control_request"}, {"request_id", requestId},
               {"request", {{"subtype", "can_use_tool"}, {"tool_name", "Bash"}, {"input", input}, {"tool_use_id", toolUseId}}}});
    }
}

void askOdd(const std::string &kind)
{
    json request = {{"subtype", "can_use_tool"}, {"tool_use_id", id("toolu")}};
    if (kind == "long-name")
        request.update({{"tool_name", std::string(5000, 'x')}, {"input", {{"a", 1}}}});
    else if (kind == "no-name")
        request.update({{"input", {{"a", 1}}}});
    else if (kind == "no-input")
        request.update({{"tool_name", "Bash"}});
    else if (kind == "null-input")
        request.update({{"tool_name", "Bash"}, {"input", nullptr}});
    else if (kind == "text-input")
        request.update({{"tool_name", "Bash"}, {"input", "rm -rf /"}});
    const std::string requestId = id("req");
    open[requestId] = request["tool_use_id"];
    write({{"type", "control_request"}, {"request_id", requestId}, {"request", request}});
}

void prompt(const std::string &text)
{
    remember({{"type", "user"}, {"sessionId", sessionId}, {"text", text}});
    write(withSession({{"type", "system"}, {"subtype", "init"}, {"model", "stub"}, {"permissionMode", "default"},
                       {"claude_code_version", "2.1.332"}, {"tools", json::array({"Bash"})}}));
    const size_t space = text.find(' ');
    const std::string word = text.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : text.substr(space + 1);
    if (word == "ask")
        return ask(std::stoi(rest));
    if (word == "ask-odd")
        return askOdd(rest);
    if (word == "hang")
        return;
    if (word == "die") {
        streamText(id("msg"), {"about to die"});
        std::exit(7);
    }
    if (word == "stream") {
        std::vector<std::string> words;
        for (int i = 0; i < std::stoi(rest); ++i)
            words.push_back("w" + std::to_string(i) + " ");
        streamText(id("msg"), words);
        return result(false, "completed");
    }
    streamText(id("msg"), {rest.empty() ? text : rest});
    result(false, "completed");
}

void decision(const json &response)
{
    const std::string requestId = response.value("request_id", "");
    const auto found = open.find(requestId);
    if (found == open.end())
        return;
    const std::string toolUseId = found->second;
    open.erase(found);
    const json answer = response.value("response", json::object());
    const std::string behaviour = answer.is_object() ? answer.value("behavior", "error") : "error";
    if (const char *stamps = std::getenv("STUB_STAMPS")) {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        std::ofstream(stamps, std::ios::app) << requestId << ' ' << now.tv_sec * 1000000000LL + now.tv_nsec << ' ' << behaviour << '\n';
    }
    toolResult(toolUseId, behaviour == "allow" ? answer["updatedInput"].dump() : answer.value("message", "refused"), behaviour != "allow");
    if (open.empty()) {
        streamText(id("msg"), {"done"});
        result(false, "completed");
    }
}

void control(const json &message)
{
    const std::string requestId = message.value("request_id", "");
    const json request = message.value("request", json::object());
    const std::string subtype = request.value("subtype", "");
    json response = json::object();
    if (subtype == "initialize")
        response = {{"claude_code_version", "2.1.332"}, {"commands", json::array()}, {"pid", ::getpid()}};
    write({{"type", "control_response"}, {"response", {{"subtype", "success"}, {"request_id", requestId}, {"response", response}}}});
    if (subtype == "interrupt") {
        for (const auto &[openId, toolUseId] : open)
            write({{"type", "control_cancel_request"}, {"request_id", openId}});
        open.clear();
        result(true, "aborted_tools");
    }
    if (subtype == "end_session")
        std::exit(0);
}

std::string slug(std::string folder)
{
    for (char &c : folder) {
        if (!std::isalnum(static_cast<unsigned char>(c)))
            c = '-';
    }
    return folder;
}

} // namespace

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--version") == 0) {
            std::puts("2.1.332 (Claude Code)");
            return 0;
        }
        if ((std::strcmp(argv[i], "--session-id") == 0 || std::strcmp(argv[i], "--resume") == 0) && i + 1 < argc)
            sessionId = argv[i + 1];
    }
    const char *config = std::getenv("CLAUDE_CONFIG_DIR");
    char cwd[4096];
    if (!config || !::getcwd(cwd, sizeof cwd))
        return 2;
    const std::string folder = std::string(config) + "/projects/" + slug(cwd);
    std::string make = "mkdir -p '" + folder + "'";
    if (std::system(make.c_str()) != 0)
        return 2;
    transcriptPath = folder + "/" + sessionId + ".jsonl";
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);) {
        const json message = json::parse(line, nullptr, false);
        if (!message.is_object())
            return 1;
        const std::string type = message.value("type", "");
        if (type == "control_request")
            control(message);
        else if (type == "control_response")
            decision(message.value("response", json::object()));
        else if (type == "user")
            prompt(message["message"]["content"].is_string() ? message["message"]["content"].get<std::string>()
                                                              : message["message"]["content"][0]["text"].get<std::string>());
    }
    return 0;
}

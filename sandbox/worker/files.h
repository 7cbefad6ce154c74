#pragma once

#include "sandbox/worker/filetask.h"
#include "sandbox/worker/filetree.h"

#include <list>
#include <memory>
#include <string>
#include <vector>

namespace sandbox {

class PutTask;
class ReadTask;

// The file requests of the attached engine (sandbox/README.md, Files), worked off in short slices of the worker's loop.
class FileService
{
public:
    explicit FileService(std::vector<std::string> roots);
    ~FileService();
    bool isOffered() const { return !m_roots.isEmpty(); }
    // False: malformed or against the protocol.
    bool command(const Frame &frame, Connection &attached);
    // There is something to do now, without waiting for the engine.
    bool isRunnable(const Connection *attached) const;
    void work(Connection &attached);
    // The engine is gone: nothing goes on, no temporary file is left.
    void reset();

private:
    using Tasks = std::list<std::unique_ptr<FileTask>>;

    template<class Task, class Payload> bool start(const Frame &frame, Connection &attached);
    bool put(const Frame &frame, Connection &attached);
    bool putMore(const Frame &frame);
    bool putFinish(const Frame &frame, Connection &attached);
    bool credit(const Frame &frame);
    bool cancel(const Frame &frame);
    bool refuse(std::uint32_t request, Connection &attached);
    Tasks::iterator find(std::uint32_t request);

    FileRoots m_roots;
    Tasks m_tasks; // the front one has its turn
};

} // namespace sandbox

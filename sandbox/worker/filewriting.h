#pragma once

#include "sandbox/worker/filetask.h"
#include "sandbox/worker/filetree.h"

#include <dirent.h>
#include <memory>
#include <vector>

namespace sandbox {

// FILES_PUT and what follows it. Driven by the frames; there is work only at the end.
class PutTask final : public FileTask
{
public:
    PutTask(std::uint32_t request, const FileRoots &roots, Connection &to);
    ~PutTask() override;
    bool isRunnable() const override { return m_finished; }
    bool work(const Slice &) override { return m_finished; }
    // False: the engine broke the protocol.
    bool begin(const PutPayload &put);
    bool take(std::string_view bytes);
    bool finishAsked();

private:
    void makeTemporary(const PutPayload &put);
    void write(std::string_view bytes);
    void complete();
    void dropTemporary();
    void fail(const FileProblem &problem);

    const FileRoots &m_roots;
    std::string m_rootPath;
    std::unique_ptr<FolderOfPath> m_root;
    PutPayload m_put; // of the one being written; its bytes are not kept
    std::uint64_t m_left = 0;
    std::uint32_t m_untold = 0; // taken and not told
    bool m_open = false;        // begun and not complete
    bool m_failed = false;      // its result was told; what still comes of it is dropped
    bool m_finished = false;
    int m_folder = -1; // owned by m_root
    std::string m_name;
    std::string m_temporaryName; // empty: none is there
    Fd m_file;
};

// FILES_CHANGE.
class ChangeTask final : public FileTask
{
public:
    ChangeTask(ChangePayload asked, const FileRoots &roots, Connection &to);
    bool work(const Slice &slice) override;

private:
    struct CloseFolder
    {
        void operator()(DIR *folder) const { ::closedir(folder); }
    };
    struct Level
    {
        std::unique_ptr<DIR, CloseFolder> folder;
        std::string name;      // in the level above
        bool removed = false;  // something since the last rewind
    };

    void apply(const FileChangeItem &change);
    void makeFolder(int folder, const std::string &name, const FileChangeItem &change);
    void makeLink(int folder, const std::string &name, const FileChangeItem &change);
    void setMode(int folder, const std::string &name, const FileChangeItem &change);
    void remove(int folder, const std::string &name);
    bool enter(int folder, const std::string &name);
    void removeStep();
    void failCurrent(const FileProblem &problem);

    ChangePayload m_asked;
    std::unique_ptr<FolderOfPath> m_root;
    std::size_t m_next = 0;
    std::vector<Level> m_levels; // of the removal going on
    int m_removeFrom = -1;       // folder of the outermost level; owned by m_root
};

} // namespace sandbox

#pragma once

#include "sandbox/worker/filetask.h"
#include "sandbox/worker/filetree.h"

#include <dirent.h>
#include <memory>
#include <nettle/sha2.h>
#include <vector>

namespace sandbox {

// FILES_LIST.
class ListTask final : public FileTask
{
public:
    ListTask(ListPayload asked, const FileRoots &roots, Connection &to);
    bool work(const Slice &slice) override;

private:
    struct CloseFolder
    {
        void operator()(DIR *folder) const { ::closedir(folder); }
    };
    struct Level
    {
        std::unique_ptr<DIR, CloseFolder> folder;
        std::size_t pathBytes = 0; // of the prefix in m_path
    };

    void startNextOnly();
    void look(int folder, const char *name);
    void enter(int folder, const char *name);
    void add(FileKind kind, const FileStatus &status, std::string target);
    void flush();

    ListPayload m_asked;
    std::unique_ptr<FolderOfPath> m_root;
    dev_t m_device = 0;
    std::size_t m_nextOnly = 0;
    std::vector<Level> m_levels;
    std::string m_path; // of what is looked at
    ListedPayload m_batch;
    std::size_t m_batchBytes = 0;
};

// A regular file opened for reading, with its status before the first byte.
struct OpenedFile
{
    Fd file;
    FileStatus before;
};

// FILES_HASH.
class HashTask final : public FileTask
{
public:
    HashTask(HashPayload asked, const FileRoots &roots, Connection &to);
    bool work(const Slice &slice) override;

private:
    void openNext();
    void readPiece();

    HashPayload m_asked;
    std::unique_ptr<FolderOfPath> m_root;
    std::size_t m_next = 0; // behind the opened one
    OpenedFile m_open;
    std::uint64_t m_offset = 0;
    sha256_ctx m_hash{};
};

// FILES_READ.
class ReadTask final : public FileTask
{
public:
    ReadTask(ReadPayload asked, const FileRoots &roots, Connection &to);
    bool isRunnable() const override { return m_credit > 0; }
    bool work(const Slice &slice) override;
    // False: more than was ever sent.
    bool addCredit(std::uint32_t bytes);

private:
    void openNext();
    void readPiece();

    ReadPayload m_asked;
    std::unique_ptr<FolderOfPath> m_root;
    std::size_t m_next = 0;
    OpenedFile m_open;
    std::uint64_t m_offset = 0;
    std::uint64_t m_left = 0;
    std::uint32_t m_credit = fileWindowBytes;
};

} // namespace sandbox

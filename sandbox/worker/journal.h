#pragma once

#include "sandbox/worker/fd.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sandbox {

// One stream of one launch, byte n at position n of a file without a name: nothing outside can open or change it.
// What was trimmed gives its disk blocks back.
class Journal
{
public:
    // A fresh, empty one; in memory when the folder cannot take it. errno on failure.
    bool open(const std::string &folder);
    // How many bytes were taken; fewer than asked when the disk is full.
    std::size_t append(const char *bytes, std::size_t count);
    // How many bytes were read from `offset`; 0 at the end.
    std::size_t read(std::uint64_t offset, char *to, std::size_t count) const;
    void trim(std::uint64_t offset);

    std::uint64_t oldest() const { return m_oldest; }
    std::uint64_t end() const { return m_end; }
    std::uint64_t held() const { return m_end - m_oldest; }

private:
    Fd m_file;
    std::uint64_t m_oldest = 0;
    std::uint64_t m_end = 0;
    std::uint64_t m_punched = 0;
    std::string m_tail; // the last append, so that a reader that keeps up needs no file
};

} // namespace sandbox

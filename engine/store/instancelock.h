#pragma once

#include "engine/types/error.h"

#include <QString>

namespace engine {

// Held by the one engine that works on a data folder; freed by the kernel when its process dies in any way.
class InstanceLock final
{
public:
    // StorageBusy names the process that holds the folder and the way out.
    static Result<InstanceLock> acquire(const QString &dataFolder);
    InstanceLock(InstanceLock &&other) noexcept;
    InstanceLock &operator=(InstanceLock &&other) noexcept;
    ~InstanceLock();

    QString path() const { return m_path; }

private:
    InstanceLock(int descriptor, const QString &path) : m_descriptor(descriptor), m_path(path) {}

    int m_descriptor = -1;
    QString m_path;
};

} // namespace engine

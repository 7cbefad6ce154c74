#include "app/doors/username.h"

#include <pwd.h>
#include <unistd.h>

namespace app {

QString userName()
{
    const passwd *entry = getpwuid(getuid());
    return entry ? QString::fromLocal8Bit(entry->pw_name) : QString::number(getuid());
}

} // namespace app

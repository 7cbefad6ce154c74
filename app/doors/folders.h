#pragma once

#include "engine/types/error.h"

namespace app {

// Where an instance keeps its things. The runtime folder is private to the user, short enough for socket names, the
// same at every start (living harnesses are found again there) and its own for each data folder.
struct Folders
{
    QString data;
    QString runtime;
    QString controlSocket;
};

// Makes them. `wanted` empty: the default below XDG_DATA_HOME, the demo's own with `demo`.
engine::Result<Folders> prepareFolders(const QString &wanted, bool demo);

} // namespace app

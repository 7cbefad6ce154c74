#pragma once

#include "engine/types/error.h"

#include <QIODevice>

namespace engine {

// Packs a folder of this host as a tar archive for a computer: of a git repository what git tracks or does not ignore,
// and the repository itself; else everything. Links are kept as links, also those that lead out: they end nowhere in
// there. Files belong to the computer's user. Answers how many files there are. Any thread.
Result<int> packWorkspace(const QString &folder, QIODevice &to);

} // namespace engine

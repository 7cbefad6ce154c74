#pragma once

#include "engine/store/row.h"
#include "engine/types/approval.h"

namespace engine {

// A row of `approval.select`.
Approval approvalOf(const Row &row);

} // namespace engine

// SPDX-License-Identifier: Apache-2.0
// Algorithms of MSCCL, as its compiler msccl-tools writes them: XML with a list of steps for each
// thread block of each GPU. https://github.com/microsoft/msccl
#pragma once

#include <string_view>

#include "base/status.h"
#include "gyre_plan/foreign_plan.h"

namespace gyre::tool {

// `root` is not in the file.
[[nodiscard]] Result<ForeignPlan> read_msccl_xml(std::string_view text, int root);

}  // namespace gyre::tool

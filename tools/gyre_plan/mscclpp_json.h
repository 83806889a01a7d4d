// SPDX-License-Identifier: Apache-2.0
// Execution plans of MSCCL++, as its compiler writes them for its executor: JSON with a list of
// operations for each thread block of each GPU. https://microsoft.github.io/mscclpp
//
// Plans of the protocol Simple reach into the buffers of peers and order that by signals: direct plans.
// In plans of the protocol LL what is put into the scratch memory of a peer carries its own flags: that
// is a message, and it is taken where the scratch memory is read.
#pragma once

#include <string_view>

#include "base/status.h"
#include "gyre_plan/foreign_plan.h"

namespace gyre::tool {

// `root` is not in the file.
[[nodiscard]] Result<ForeignPlan> read_mscclpp_json(std::string_view text, int root);

}  // namespace gyre::tool

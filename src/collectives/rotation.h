// SPDX-License-Identifier: Apache-2.0
// Proves plans in which all ranks do the same, each from where it stands: rings among a thousand
// ranks and more, at the cost of one of them.
#pragma once

#include <functional>

#include "base/status.h"
#include "collectives/plan.h"
#include "collectives/verifier.h"

namespace gyre::plan {

using ProgramOf = std::function<Program(int rank)>;

// Nothing if every rank's program is that of rank 0 with all ranks and blocks shifted by its number,
// modulo the number of ranks; else an error that says where it is not. There must be as many blocks as
// ranks. `plan` is the description; its programs are not looked at.
[[nodiscard]] Status check_rotation(const Plan& plan, const ProgramOf& program_of);

// check_rotation, then what verify() proves, by running rank 0 alone (docs/plans.md says why that is
// enough). For plans with slots and without a root.
[[nodiscard]] Status verify_by_rotation(const Plan& plan, const ProgramOf& program_of,
                                        const VerifyOptions& options = {});

}  // namespace gyre::plan

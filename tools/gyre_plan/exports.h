// SPDX-License-Identifier: Apache-2.0
// Operations in the formats of other simulators.
#pragma once

#include <iosfwd>
#include <span>

#include "gyre_plan/operations.h"

namespace gyre::tool {

// GOAL, the text that LogGOPSim's txt2bin reads: T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim:
// simulating large-scale applications in the LogGOPS model", LSAP 2010; github.com/spcl/LogGOPSim.
// The heading once, then each rank. Computations are in nanoseconds.
void write_goal_heading(std::ostream& to, int ranks);
void write_goal_rank(std::ostream& to, int rank, std::span<const Operation> operations,
                     double seconds_per_combined_byte);

// A Chakra execution trace, one file for each rank, as ASTRA-sim reads it: protobuf messages of
// schema/protobuf/et_def.proto, each after its length as a varint; github.com/mlcommons/chakra.
void write_chakra_rank(std::ostream& to, int rank, std::span<const Operation> operations,
                       double seconds_per_combined_byte);

}  // namespace gyre::tool

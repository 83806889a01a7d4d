// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "gyre_plan/exports.h"

namespace gyre::tool {
namespace {

std::string line_of(const Operation& operation, double seconds_per_combined_byte) {
  switch (operation.kind) {
    case Operation::Kind::send:
      return fmt::format("send {}b to {} tag {}", operation.bytes, operation.peer, operation.tag);
    case Operation::Kind::receive:
      return fmt::format("recv {}b from {} tag {}", operation.bytes, operation.peer, operation.tag);
    case Operation::Kind::compute:
      break;
  }
  const double nanoseconds = static_cast<double>(operation.bytes) * seconds_per_combined_byte * 1e9;
  return fmt::format("calc {}", std::llround(nanoseconds));
}

}  // namespace

void write_goal_heading(std::ostream& to, int ranks) {
  to << "num_ranks " << ranks << "\n";
}

// Labels are l1, l2, ..., in the order of operations.
void write_goal_rank(std::ostream& to, int rank, std::span<const Operation> operations,
                     double seconds_per_combined_byte) {
  to << "\nrank " << rank << " {\n";
  std::size_t label = 0;
  for (const Operation& operation : operations) {
    ++label;
    to << fmt::format("l{}: {}\n", label, line_of(operation, seconds_per_combined_byte));
    for (const std::uint32_t before : operation.after) {
      to << fmt::format("l{} requires l{}\n", label, before + 1);
    }
  }
  to << "}\n";
}

}  // namespace gyre::tool

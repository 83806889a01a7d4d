// SPDX-License-Identifier: Apache-2.0
// Plans as JSON, for files that people and programs write: docs/plan-files.md is the description.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"
#include "collectives/plan.h"

namespace gyre::plan {

inline constexpr int plan_json_version = 1;
// Of one document. A plan of 257 ranks in which everybody sends to everybody takes 12 MiB.
inline constexpr std::size_t most_plan_bytes = 16 * 1024 * 1024;

// One step a line.
[[nodiscard]] std::string to_json(const Plan& plan);

// Strict: an unknown or repeated key, a wrong type or a number out of range is refused with the place
// in the document (a JSON pointer, RFC 6901) and the reason. A plan that was read is well-formed and
// no more than that: verify() says whether it is right.
[[nodiscard]] Result<Plan> parse_plan(std::string_view text);

// parse_plan of a file's contents; errors begin with the path.
[[nodiscard]] Result<Plan> read_plan_file(const std::string& path);

}  // namespace gyre::plan

// SPDX-License-Identifier: Apache-2.0
// The variables that one rank of a job sees.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "support/job.h"

namespace gyre::test {

// Names the role that a process plays; unset in a program that runs tests.
inline constexpr const char* role_variable = "GYRE_TESTS_ROLE";

// Those of this process without any launcher's, then those of the options.
[[nodiscard]] std::vector<std::string> launch_environment(const JobOptions& options, int rank,
                                                          const std::string& comm_id);

[[nodiscard]] std::string to_hex(std::span<const char> bytes);

}  // namespace gyre::test

// SPDX-License-Identifier: Apache-2.0
#include "support/launch_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace gyre::test {
namespace {

// A test may itself run under a launcher, whose variables must not leak into the job.
constexpr std::array<std::string_view, 13> launcher_prefixes = {"RANK=",
                                                                "WORLD_SIZE=",
                                                                "LOCAL_RANK=",
                                                                "LOCAL_WORLD_SIZE=",
                                                                "MASTER_",
                                                                "OMPI_",
                                                                "PMIX_",
                                                                "PMI_",
                                                                "SLURM_",
                                                                "GYRE_COMM_ID=",
                                                                "GYRE_JOB_SECRET=",
                                                                "GYRE_RANK=",
                                                                "GYRE_NRANKS="};

bool of_launcher(std::string_view variable) {
  return std::any_of(launcher_prefixes.begin(), launcher_prefixes.end(),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

// Later settings of a name replace earlier ones: getenv finds the first.
void set(std::vector<std::string>& environment, const std::string& variable) {
  const std::string name = variable.substr(0, variable.find('=') + 1);
  std::erase_if(environment, [&](const std::string& other) { return other.starts_with(name); });
  environment.push_back(variable);
}

}  // namespace

std::vector<std::string> launch_environment(const JobOptions& options, int rank,
                                            const std::string& comm_id) {
  std::vector<std::string> environment;
  for (char** variable = ::environ; *variable != nullptr; ++variable) {
    if (!of_launcher(*variable)) {
      environment.emplace_back(*variable);
    }
  }
  set(environment, std::string(role_variable) + "=" + options.role);
  if (options.launched) {
    const std::string own = std::to_string(rank);
    const std::string size = std::to_string(options.ranks);
    set(environment, "GYRE_COMM_ID=" + comm_id);
    set(environment, "RANK=" + own);
    set(environment, "WORLD_SIZE=" + size);
    set(environment, "LOCAL_RANK=" + own);
    set(environment, "LOCAL_WORLD_SIZE=" + size);
  }
  for (const std::string& variable : options.environment) {
    set(environment, variable);
  }
  if (options.rank_environment) {
    for (const std::string& variable : options.rank_environment(rank)) {
      set(environment, variable);
    }
  }
  return environment;
}

std::string to_hex(std::span<const char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

}  // namespace gyre::test

// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/launcher.h"

#include <charconv>

#include <fmt/format.h>

#include "base/log.h"
#include "bootstrap/launch_methods.h"
#include "bootstrap/messages.h"
#include "bootstrap/pmi1.h"

namespace gyre::bootstrap {
namespace {

Result<Launch> choose(const LaunchRequest& request) {
  const Environment& environment = request.environment;
  if (!request.settings.comm_id.empty()) {
    return launch_by_comm_id(request);
  }
  if (environment.has("PMIX_NAMESPACE") && environment.has("PMIX_RANK")) {
    return launch_by_pmix(request);
  }
  if (environment.has("PMI_FD") && environment.has("PMI_RANK")) {
    return launch_by_pmi1(request);
  }
  if (environment.has("RANK") && environment.has("WORLD_SIZE")) {
    return launch_by_torchrun(request);
  }
  return launch_alone();
}

}  // namespace

LauncherSession::LauncherSession() = default;
LauncherSession::~LauncherSession() = default;

Environment Environment::from(const char* const* environment) {
  std::map<std::string, std::string> variables;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
  return Environment(std::move(variables));
}

std::optional<std::string> Environment::get(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? std::nullopt : std::optional(found->second);
}

Result<int> number_in(const Environment& environment, const std::string& name, int lowest,
                      int highest) {
  const std::string text = environment.get(name).value_or("");
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < lowest || value > highest) {
    return fail(
        Code::invalid_argument,
        fmt::format("The environment has {}=\"{}\", which should be a number from {} to {}.", name,
                    text, lowest, highest));
  }
  return value;
}

int local_rank_in(const Environment& environment) {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "LOCAL_RANK"}) {
    if (environment.has(name)) {
      return number_in(environment, name, 0, max_ranks).value_or(-1);
    }
  }
  return -1;
}

Result<std::unique_ptr<Root>> make_root(const LaunchRequest& request, bool this_host_only) {
  Result<Network> network = Network::from(request.settings);
  if (!network) {
    return Unexpected(network.error());
  }
  network->interfaces.this_host_only = this_host_only;
  return Root::create(request.loop, *network, request.library_version);
}

Result<Launch> launch_alone() {
  Launch launch;
  launch.local_rank = 0;
  launch.how = "alone";
  return launch;
}

Result<Launch> launch_by_comm_id(const LaunchRequest& request) {
  if (request.instance > 0) {
    return fail(Code::invalid_usage,
                "GYRE_COMM_ID has made a communicator in this process already, and one id makes "
                "one. Use gyreGetUniqueId or gyreCommSplit for more.");
  }
  const Result<UniqueId> id = UniqueId::from_hex(request.settings.comm_id);
  if (!id) {
    return Unexpected(id.error());
  }
  const bool own = request.environment.has("GYRE_RANK");
  const Result<int> size =
      number_in(request.environment, own ? "GYRE_NRANKS" : "WORLD_SIZE", 1, max_ranks);
  if (!size) {
    return fail(Code::invalid_argument,
                fmt::format("{} GYRE_COMM_ID is set, so GYRE_RANK and GYRE_NRANKS (or RANK and "
                            "WORLD_SIZE) must be too.",
                            size.error().message));
  }
  const Result<int> rank = number_in(request.environment, own ? "GYRE_RANK" : "RANK", 0, *size - 1);
  if (!rank) {
    return Unexpected(rank.error());
  }
  Launch launch;
  launch.rank = *rank;
  launch.size = *size;
  launch.id = *id;
  launch.how = "GYRE_COMM_ID";
  return launch;
}

Result<Launch> find_launch(const LaunchRequest& request) {
  Result<Launch> launch = choose(request);
  if (launch) {
    log::info(log::Subsystem::bootstrap, "launched by {}: rank {} of {}", launch->how, launch->rank,
              launch->size);
  }
  return launch;
}

}  // namespace gyre::bootstrap

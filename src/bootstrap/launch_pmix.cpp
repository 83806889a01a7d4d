// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bootstrap/launch_methods.h"

namespace gyre::bootstrap {
namespace {

// Rank 0 makes the id and publishes it; the fence carries it to all.
Status exchange(const LaunchRequest& request, drivers::PmixClient& pmix, Launch& launch) {
  const std::string key = fmt::format("gyre.id.{}", request.instance);
  if (launch.rank == 0) {
    const bool this_host_only = pmix.process().local_size == launch.size;
    Result<std::unique_ptr<Root>> root = make_root(request, this_host_only);
    if (!root) {
      return Unexpected(root.error());
    }
    launch.root = std::move(*root);
    GYRE_TRY(pmix.put(key, launch.root->id().encode()));
  }
  GYRE_TRY(pmix.fence(std::chrono::milliseconds(net::milliseconds_until(request.deadline))));
  const Result<std::vector<std::byte>> bytes = pmix.get(0, key);
  if (!bytes) {
    return Unexpected(bytes.error());
  }
  const Result<UniqueId> id = UniqueId::decode(*bytes);
  if (!id) {
    return Unexpected(id.error());
  }
  launch.id = *id;
  return {};
}

}  // namespace

Result<Launch> launch_by_pmix(const LaunchRequest& request) {
  LauncherSession own;  // ends with this call
  LauncherSession& session = request.session != nullptr ? *request.session : own;
  if (!session.pmix) {
    auto opened = request.open_pmix();
    if (!opened) {
      return Unexpected(opened.error());
    }
    session.pmix = std::move(*opened);
  }
  const drivers::PmixProcess& process = session.pmix->process();
  Launch launch;
  launch.rank = process.rank;
  launch.size = process.size;
  launch.local_rank =
      process.local_rank >= 0 ? process.local_rank : local_rank_in(request.environment);
  launch.how = "PMIx";
  if (launch.size > 1) {
    GYRE_TRY(exchange(request, *session.pmix, launch));
  }
  return launch;
}

}  // namespace gyre::bootstrap

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bootstrap/launch_methods.h"
#include "bootstrap/messages.h"
#include "bootstrap/pmi1.h"

namespace gyre::bootstrap {
namespace {

Status exchange(const LaunchRequest& request, Pmi1& pmi, Launch& launch) {
  const std::string key = fmt::format("gyre_id_{}", request.instance);
  if (launch.rank == 0) {
    Result<std::unique_ptr<Root>> root = make_root(request, false);
    if (!root) {
      return Unexpected(root.error());
    }
    launch.root = std::move(*root);
    GYRE_TRY(pmi.put(key, launch.root->id().to_hex()));
  }
  GYRE_TRY(pmi.barrier());
  const Result<std::string> value = pmi.get(key);
  if (!value) {
    return Unexpected(value.error());
  }
  const Result<UniqueId> id = UniqueId::from_hex(*value);
  if (!id) {
    return Unexpected(id.error());
  }
  launch.id = *id;
  return {};
}

}  // namespace

Result<Launch> launch_by_pmi1(const LaunchRequest& request) {
  const Result<int> fd = number_in(request.environment, "PMI_FD", 0, 1 << 20);
  const Result<int> size = number_in(request.environment, "PMI_SIZE", 1, max_ranks);
  if (!fd || !size) {
    return Unexpected(fd ? size.error() : fd.error());
  }
  const Result<int> rank = number_in(request.environment, "PMI_RANK", 0, *size - 1);
  if (!rank) {
    return Unexpected(rank.error());
  }
  Launch launch;
  launch.rank = *rank;
  launch.size = *size;
  launch.local_rank = local_rank_in(request.environment);
  launch.how = "PMI";
  if (launch.size == 1) {
    return launch;
  }
  LauncherSession own;  // ends with this call
  LauncherSession& session = request.session != nullptr ? *request.session : own;
  if (!session.pmi) {
    auto opened = Pmi1::open(*fd, request.deadline);
    if (!opened) {
      return Unexpected(opened.error());
    }
    session.pmi = std::move(*opened);
  }
  session.pmi->set_deadline(request.deadline);
  GYRE_TRY(exchange(request, *session.pmi, launch));
  return launch;
}

}  // namespace gyre::bootstrap

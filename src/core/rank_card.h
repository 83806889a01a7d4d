// SPDX-License-Identifier: Apache-2.0
// What every rank learns of every other at init. Versioned and length-checked:
//   u16 version | blob host identity | text address of the descriptor server |
//   text algorithm | text protocol | u64 chunk bytes | u64 channels | text plan files |
//   u64 reproducible | u64 slots
#pragma once

#include <string>

#include "base/settings.h"
#include "base/status.h"
#include "core/prepared.h"
#include "net/bytes.h"
#include "topology/host_identity.h"

namespace gyre::core {

struct RankCard {
  topology::HostIdentity host;
  std::string fd_server;
  PlanSettings plans;
  std::int64_t slots = 0;
};

[[nodiscard]] net::Bytes serialise(const RankCard& card);
[[nodiscard]] Result<RankCard> parse_rank_card(net::ByteView bytes);

}  // namespace gyre::core

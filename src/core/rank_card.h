// SPDX-License-Identifier: Apache-2.0
// What every rank learns of every other at init. Versioned and length-checked:
//   u16 version | blob host identity | text address of the descriptor server |
//   text algorithm | text protocol | u64 chunk bytes | u64 channels | text plan files |
//   u64 reproducible | u64 slots |
//   u32 2: costs of links are not used; 0: not known; 1: known, 4 u64 are their bits
#pragma once

#include <optional>
#include <string>

#include "base/settings.h"
#include "base/status.h"
#include "collectives/cost_model.h"
#include "core/prepared.h"
#include "net/bytes.h"
#include "topology/host_identity.h"

namespace gyre::core {

struct RankCard {
  topology::HostIdentity host;
  std::string fd_server;
  PlanSettings plans;
  std::int64_t slots = 0;
  bool chooses_by_costs = true;
  std::optional<plan::LinkCosts> costs;  // that the rank knows from an earlier job
};

void write_link_costs(net::ByteWriter& writer, const plan::LinkCosts& costs);
[[nodiscard]] plan::LinkCosts read_link_costs(net::ByteReader& reader);

[[nodiscard]] net::Bytes serialise(const RankCard& card);
[[nodiscard]] Result<RankCard> parse_rank_card(net::ByteView bytes);

}  // namespace gyre::core

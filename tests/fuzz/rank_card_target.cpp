// SPDX-License-Identifier: Apache-2.0
#include "core/rank_card.h"
#include "fuzz/target.h"

namespace gyre::fuzz {

void consume(net::ByteView bytes) {
  if (const auto card = core::parse_rank_card(bytes)) {
    const auto again = core::parse_rank_card(core::serialise(*card));
    require(again.has_value() && again->host == card->host && again->plans == card->plans &&
            again->chooses_by_costs == card->chooses_by_costs);
  }
}

std::vector<net::Bytes> seeds() {
  core::RankCard card;
  card.host = {.host_id = "host", .host_name = "name", .cpus = "0-3"};
  card.fd_server = "@address";
  card.plans = {
      .algorithm = "ring", .protocol = "staged", .chunk_bytes = 64, .channels = 2, .plan_file = ""};
  return {core::serialise(card)};
}

}  // namespace gyre::fuzz

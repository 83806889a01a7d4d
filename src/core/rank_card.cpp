// SPDX-License-Identifier: Apache-2.0
#include "core/rank_card.h"

#include <bit>

#include <fmt/core.h>

namespace gyre::core {
namespace {

constexpr std::uint16_t card_version = 3;

}  // namespace

void write_link_costs(net::ByteWriter& writer, const plan::LinkCosts& costs) {
  for (const double cost : {costs.exchange, costs.message, costs.per_byte, costs.per_byte_large}) {
    writer.u64(std::bit_cast<std::uint64_t>(cost));
  }
}

plan::LinkCosts read_link_costs(net::ByteReader& reader) {
  const auto next = [&] { return std::bit_cast<double>(reader.u64()); };
  plan::LinkCosts costs;
  costs.exchange = next();
  costs.message = next();
  costs.per_byte = next();
  costs.per_byte_large = next();
  return costs;
}

net::Bytes serialise(const RankCard& card) {
  net::ByteWriter writer;
  writer.u16(card_version);
  writer.blob(topology::serialise(card.host));
  writer.text(card.fd_server);
  writer.text(card.plans.algorithm);
  writer.text(card.plans.protocol);
  writer.u64(static_cast<std::uint64_t>(card.plans.chunk_bytes));
  writer.u64(static_cast<std::uint64_t>(card.plans.channels));
  writer.text(card.plans.plan_file);
  writer.u64(card.plans.reproducible ? 1 : 0);
  writer.u64(static_cast<std::uint64_t>(card.slots));
  writer.u32(!card.chooses_by_costs ? 2 : card.costs ? 1 : 0);
  if (card.chooses_by_costs && card.costs) {
    write_link_costs(writer, *card.costs);
  }
  return writer.take();
}

Result<RankCard> parse_rank_card(net::ByteView bytes) {
  net::ByteReader reader(bytes);
  if (const std::uint16_t version = reader.u16(); version != card_version) {
    return fail(Code::invalid_usage,
                fmt::format("a rank's card has version {}, this library reads version {}: the "
                            "ranks run different versions of Gyre.",
                            version, card_version));
  }
  auto host = topology::parse_host_identity(reader.blob());
  if (!host) {
    return Unexpected(std::move(host).error());
  }
  RankCard card;
  card.host = std::move(*host);
  card.fd_server = reader.text();
  card.plans.algorithm = reader.text();
  card.plans.protocol = reader.text();
  card.plans.chunk_bytes = static_cast<std::int64_t>(reader.u64());
  card.plans.channels = static_cast<std::int64_t>(reader.u64());
  card.plans.plan_file = reader.text();
  card.plans.reproducible = reader.u64() != 0;
  card.slots = static_cast<std::int64_t>(reader.u64());
  const std::uint32_t costs = reader.u32();
  card.chooses_by_costs = costs != 2;
  if (costs == 1) {
    card.costs = read_link_costs(reader);
  }
  if (!reader.complete()) {
    return fail(Code::internal_error,
                fmt::format("a rank's card of {} bytes does not have the layout of version {}.",
                            bytes.size(), card_version));
  }
  return card;
}

}  // namespace gyre::core

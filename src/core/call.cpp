// SPDX-License-Identifier: Apache-2.0
#include "core/call.h"

#include <fmt/core.h>

#include "collectives/algorithm.h"
#include "gyre/gyre.h"

namespace gyre::core {
namespace {

std::string name_of_operation(std::int32_t op) {
  static constexpr std::array<const char*, gyreNumOps> names = {"sum", "prod", "max", "min",
                                                                "avg", "band", "bor", "bxor"};
  return op >= 0 && op < gyreNumOps ? names[static_cast<std::size_t>(op)] : "user's operation";
}

bool reduces(plan::Collective collective) {
  return collective == plan::Collective::all_reduce || collective == plan::Collective::reduce ||
         collective == plan::Collective::reduce_scatter;
}

// One round of the finaliser of MurmurHash3: every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ value >> 33;
}

constexpr std::uint32_t users_own = 0xff;  // instead of an algorithm

std::uint32_t pack(std::uint32_t algorithm, plan::Protocol protocol, int channels) {
  return algorithm | static_cast<std::uint32_t>(protocol) << 8 |
         static_cast<std::uint32_t>(channels & 0xff) << 16;
}

}  // namespace

std::uint32_t pack_plan(plan::Algorithm algorithm, plan::Protocol protocol, int channels) {
  return pack(static_cast<std::uint32_t>(algorithm), protocol, channels);
}

std::uint32_t pack_users_plan(plan::Protocol protocol, int channels) {
  return pack(users_own, protocol, channels);
}

EncodedCall encode(const Call& call) {
  return {static_cast<std::uint64_t>(call.collective) << 8 | static_cast<std::uint64_t>(call.type) |
              static_cast<std::uint64_t>(call.plan) << 16,
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.op)) |
              static_cast<std::uint64_t>(call.chunk) << 32,
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)), call.count};
}

Call decode(const EncodedCall& words) {
  return {.collective = static_cast<plan::Collective>(words[0] >> 8 & 0xff),
          .type = static_cast<DataType>(words[0] & 0xff),
          .op = static_cast<std::int32_t>(words[1]),
          .root = static_cast<std::int32_t>(words[2]),
          .count = words[3],
          .plan = static_cast<std::uint32_t>(words[0] >> 16),
          .chunk = static_cast<std::uint32_t>(words[1] >> 32)};
}

std::uint32_t signature(const Call& call) {
  const EncodedCall words = encode(call);
  const std::uint64_t call_words = mix(mix(words[0]) + words[1]) + (words[2] << 32);
  return static_cast<std::uint32_t>(mix(call_words + call.count) >> 16);
}

std::string describe(const Call& call) {
  std::string text = fmt::format("{}(", plan::name_of(call.collective));
  if (call.collective != plan::Collective::barrier) {
    text += fmt::format("count={}, {}", call.count, name_of(call.type));
  }
  if (reduces(call.collective)) {
    text += fmt::format(", {}", name_of_operation(call.op));
  }
  if (call.root >= 0) {
    text += fmt::format(", root={}", call.root);
  }
  return text + ")";
}

std::string describe_plan(const Call& call) {
  const auto algorithm = static_cast<plan::Algorithm>(call.plan & 0xff);
  const auto protocol = static_cast<plan::Protocol>(call.plan >> 8 & 0xff);
  const std::uint32_t channels = call.plan >> 16 & 0xff;
  return fmt::format(
      "{}/{}, {} channel{}, chunks of {} bytes",
      (call.plan & 0xff) == users_own ? "a plan of the user's" : plan::name_of(algorithm),
      plan::name_of(protocol), channels, channels == 1 ? "" : "s", call.chunk);
}

}  // namespace gyre::core

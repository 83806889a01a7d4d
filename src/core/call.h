// SPDX-License-Identifier: Apache-2.0
// What a rank asked for: the part of a call that must be the same on all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "collectives/algorithm.h"
#include "collectives/plan.h"
#include "memory/types.h"

namespace gyre::core {

struct Call {
  plan::Collective collective = plan::Collective::all_reduce;
  DataType type = DataType::float32;
  std::int32_t op = 0;  // gyreRedOp_t; operations of the user count as one kind each
  std::int32_t root = -1;
  std::uint64_t count = 0;
  // How it runs: algorithm, protocol and channels, 8 bits each, and the bytes of a chunk. 0: nothing
  // was chosen.
  std::uint32_t plan = 0, chunk = 0;
  friend bool operator==(const Call&, const Call&) = default;
};

// Call::plan, of a plan that was chosen and of one that the user brought.
[[nodiscard]] std::uint32_t pack_plan(plan::Algorithm algorithm, plan::Protocol protocol,
                                      int channels);
[[nodiscard]] std::uint32_t pack_users_plan(plan::Protocol protocol, int channels);

using EncodedCall = std::array<std::uint64_t, 4>;  // the words of a call record
[[nodiscard]] EncodedCall encode(const Call& call);
[[nodiscard]] Call decode(const EncodedCall& words);

// 32 bits that differ for calls that differ (but for chance, 2^-32); in every message of a call.
[[nodiscard]] std::uint32_t signature(const Call& call);

// "AllReduce(count=100, float32, sum)"
[[nodiscard]] std::string describe(const Call& call);
// "ring/staged, 2 channels, chunks of 4096 bytes": how it runs.
[[nodiscard]] std::string describe_plan(const Call& call);

}  // namespace gyre::core

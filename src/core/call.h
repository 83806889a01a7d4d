// SPDX-License-Identifier: Apache-2.0
// What a rank asked for: the part of a call that must be the same on all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "collectives/plan.h"
#include "memory/types.h"

namespace gyre::core {

struct Call {
  plan::Collective collective = plan::Collective::all_reduce;
  DataType type = DataType::float32;
  std::int32_t op = 0;  // gyreRedOp_t; operations of the user count as one kind each
  std::int32_t root = -1;
  std::uint64_t count = 0;
  friend bool operator==(const Call&, const Call&) = default;
};

using EncodedCall = std::array<std::uint64_t, 4>;  // the words of a call record
[[nodiscard]] EncodedCall encode(const Call& call);
[[nodiscard]] Call decode(const EncodedCall& words);

// 32 bits that differ for calls that differ (but for chance, 2^-32); in every message of a call.
[[nodiscard]] std::uint32_t signature(const Call& call);

// "AllReduce(count=100, float32, sum)"
[[nodiscard]] std::string describe(const Call& call);

}  // namespace gyre::core

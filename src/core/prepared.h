// SPDX-License-Identifier: Apache-2.0
// A call made ready to run: the plan that was chosen, compiled, with its geometry and kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "collectives/direct.h"
#include "collectives/geometry.h"
#include "core/call.h"
#include "core/plan_book.h"
#include "core/tuner.h"
#include "engine/combiner.h"
#include "engine/executor.h"

namespace gyre::core {

// The settings that decide about plans: rank 0's hold on all ranks.
struct PlanSettings {
  std::string algorithm;  // "" : chosen
  std::string protocol;
  std::int64_t chunk_bytes = 0;
  std::int64_t channels = 0;
  std::string plan_file;      // paths, separated by colons
  bool reproducible = false;  // only plans in the canonical order of reduction
  friend bool operator==(const PlanSettings&, const PlanSettings&) = default;
};

struct PrepareKey {
  std::uint64_t count = 0;  // elements of the buffer, or of one section
  DataType type = DataType::float32;
  bool direct = false;
  bool in_place = false;  // on any rank; looked at when direct
  std::int32_t op = 0;
  plan::Collective collective = plan::Collective::all_reduce;
  std::int32_t root = -1;
  friend bool operator==(const PrepareKey&, const PrepareKey&) = default;
};

struct PrepareKeyHash {
  std::size_t operator()(const PrepareKey& key) const {
    const std::uint64_t word = key.count * 0x9e3779b97f4a7c15ULL ^
                               static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.op)) << 8 ^
                               static_cast<std::uint64_t>(key.type) << 1 ^ (key.direct ? 1U : 0U) ^
                               (key.in_place ? std::uint64_t{1} << 40 : 0U) ^
                               static_cast<std::uint64_t>(key.collective) << 41 ^
                               static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.root))
                                   << 45;
    return word ^ word >> 29;
  }
};

struct Prepared {
  PrepareKey key;
  Call call;
  EncodedCall encoded{};
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;
  bool direct_allowed = false;                        // the operation may be done in mapped memory
  plan::Reach reach;                                  // of the plan that does it there
  int first_channel = 0;                              // of the connections
  bool few_slots_do = true;                           // transport::Shape::few_slots_of is enough
  std::uint64_t input_stride = 0, output_stride = 0;  // see engine::Operands
  std::uint64_t input_bytes = 0, output_bytes = 0;    // of the buffers
  std::string title;                                  // "twoshot/staged"
  engine::CompiledProgram program;
  plan::Geometry geometry;
  engine::Combiner combiner;
};

struct PrepareContext {
  int rank = 0;
  int ranks = 1;
  std::size_t cpus = 1;  // that the ranks of this host may use, together
  transport::Shape shape;
  PlanSettings settings;
  const PlanBook* book = nullptr;  // of the user's plans; may be null
  Tuner tuner;
  std::optional<plan::LinkCosts> costs;
};

// Chooses, builds and compiles. `reduction` is what key.op means on key.type; `common_op` its
// number as all ranks know it; `same_scale`: every rank scales alike.
Result<std::unique_ptr<Prepared>> prepare_collective(const PrepareContext& context,
                                                     const PrepareKey& key,
                                                     const engine::Reduction& reduction,
                                                     int common_op, bool same_scale);

}  // namespace gyre::core

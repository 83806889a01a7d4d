// SPDX-License-Identifier: Apache-2.0
// How much is really carried of what is simulated. Each real byte stands for `scale` simulated ones, a
// power of two; tiles, blocks and messages are the same, for the length of a slot is scaled with the buffer.
#pragma once

#include <algorithm>
#include <cstdint>

#include "collectives/geometry.h"
#include "collectives/layout.h"
#include "collectives/plan.h"
#include "simulation/experiment.h"

namespace gyre::simulation {

struct Sizes {
  std::uint64_t scale = 1;
  std::uint64_t count = 0;  // real elements in the buffer, or in a section
  std::uint64_t slot_bytes = 0;
};

inline constexpr std::uint64_t element_bytes = 4;

// The parts that one tile of a buffer is cut into.
[[nodiscard]] inline std::uint64_t blocks_of_buffer(const plan::Plan& plan) {
  const bool sectioned = plan::layout_of(plan.collective).sectioned;
  return sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks);
}

// Whether messages are as long, by the simulated bytes, as without any scale. They are if each block and
// each slot is a whole number of real elements; of 32 elements and more, one is 3% at most.
[[nodiscard]] inline bool keeps_lengths(const Experiment& experiment, std::uint64_t blocks,
                                        std::uint64_t scale) {
  constexpr std::uint64_t many = 32;
  const std::uint64_t element = element_bytes * scale;
  const bool exactly =
      experiment.bytes % (blocks * element) == 0 && experiment.slot_bytes % element == 0;
  return exactly || std::min(experiment.bytes / blocks, experiment.slot_bytes) >= many * element;
}

// As many real bytes as a computer of any size has done with at once, and no more than it takes for
// messages to keep their lengths.
[[nodiscard]] inline Sizes choose_sizes(const Experiment& experiment, const plan::Plan& plan) {
  constexpr std::uint64_t inputs_of_all_ranks = std::uint64_t{32} << 20U;
  const bool sectioned = plan::layout_of(plan.collective).sectioned;
  const auto ranks = static_cast<std::uint64_t>(plan.ranks);
  const std::uint64_t budget = inputs_of_all_ranks / ranks / (sectioned ? ranks : 1);
  const std::uint64_t blocks = blocks_of_buffer(plan);
  Sizes sizes;
  while (experiment.bytes / sizes.scale > budget &&
         keeps_lengths(experiment, blocks, 2 * sizes.scale)) {
    sizes.scale *= 2;
  }
  const std::uint64_t bytes_of_element = element_bytes * sizes.scale;
  sizes.count = (experiment.bytes + bytes_of_element - 1) / bytes_of_element;
  sizes.slot_bytes =
      std::max(experiment.slot_bytes / bytes_of_element * element_bytes, element_bytes);
  return sizes;
}

// Of real elements. A block begins at a cache line of the simulated buffer, not of the real one, so the
// geometry is told how many simulated bytes an element has; of more than a line it need not know.
[[nodiscard]] inline plan::Geometry geometry_of(const Experiment& experiment,
                                                const plan::Plan& plan, const Sizes& sizes) {
  constexpr std::uint64_t cache_line = 64;
  const std::uint64_t simulated = std::min(element_bytes * sizes.scale, cache_line);
  return plan::Geometry({.count = sizes.count,
                         .element_bytes = simulated,
                         .blocks = blocks_of_buffer(plan),
                         .slot_bytes = sizes.slot_bytes / element_bytes * simulated,
                         .channels = static_cast<std::uint64_t>(experiment.channels)});
}

}  // namespace gyre::simulation

// SPDX-License-Identifier: Apache-2.0
// How much is really carried of what is simulated. Each real byte stands for `scale` simulated ones;
// the geometry is the same, for the length of a slot is scaled with the buffer.
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

// As many real bytes as fit in the memory of one computer, but at least an element in each block and
// in each slot.
[[nodiscard]] inline Sizes choose_sizes(const Experiment& experiment, const plan::Plan& plan) {
  constexpr std::uint64_t inputs_of_all_ranks = std::uint64_t{128} << 20U;
  const bool sectioned = plan::layout_of(plan.collective).sectioned;
  const auto ranks = static_cast<std::uint64_t>(plan.ranks);
  const std::uint64_t budget = inputs_of_all_ranks / ranks / (sectioned ? ranks : 1);
  const std::uint64_t blocks = sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks);
  const std::uint64_t least = element_bytes * blocks;
  Sizes sizes;
  while (experiment.bytes / sizes.scale > budget && experiment.bytes / sizes.scale >= 2 * least &&
         experiment.slot_bytes / sizes.scale >= 2 * element_bytes) {
    sizes.scale *= 2;
  }
  const std::uint64_t bytes_of_element = element_bytes * sizes.scale;
  sizes.count = (experiment.bytes + bytes_of_element - 1) / bytes_of_element;
  sizes.slot_bytes =
      std::max(experiment.slot_bytes / bytes_of_element * element_bytes, element_bytes);
  return sizes;
}

[[nodiscard]] inline plan::Geometry geometry_of(const Experiment& experiment,
                                                const plan::Plan& plan, const Sizes& sizes) {
  const bool sectioned = plan::layout_of(plan.collective).sectioned;
  return plan::Geometry({.count = sizes.count,
                         .element_bytes = element_bytes,
                         .blocks = sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks),
                         .slot_bytes = sizes.slot_bytes,
                         .channels = static_cast<std::uint64_t>(experiment.channels)});
}

}  // namespace gyre::simulation

// SPDX-License-Identifier: Apache-2.0
// How the collectives' buffers are divided.
//
// Some have buffers of one length, which a plan cuts into blocks as it likes (AllReduce, Reduce,
// Broadcast). The others have sections, one for each rank: then block b is section b, and a buffer
// that holds one section only has one block, whose number is that section's.
#pragma once

#include "collectives/plan.h"

namespace gyre::plan {

struct Layout {
  bool sectioned = false;
  bool input_sections = false;   // of sectioned ones: the input has all sections, not one
  bool output_sections = false;  // the same of the output
};

[[nodiscard]] constexpr Layout layout_of(Collective collective) {
  switch (collective) {
    case Collective::all_gather:
    case Collective::gather:
      return {.sectioned = true, .input_sections = false, .output_sections = true};
    case Collective::reduce_scatter:
    case Collective::scatter:
      return {.sectioned = true, .input_sections = true, .output_sections = false};
    case Collective::all_to_all:
      return {.sectioned = true, .input_sections = true, .output_sections = true};
    default:
      return {};
  }
}

[[nodiscard]] constexpr bool has_root(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce ||
         collective == Collective::gather || collective == Collective::scatter;
}

[[nodiscard]] constexpr bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce ||
         collective == Collective::reduce_scatter;
}

}  // namespace gyre::plan

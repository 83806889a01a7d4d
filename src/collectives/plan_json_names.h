// SPDX-License-Identifier: Apache-2.0
// The names in plan files, which reader and writer share.
#pragma once

#include <string_view>

#include "collectives/plan.h"

namespace gyre::plan {

struct PlaceName {
  Place place;
  std::string_view name;
  bool has_peer;
};
// A slice is {name: block}, with "peer" where the place has one.
inline constexpr PlaceName place_names[] = {{Place::input, "input", false},
                                            {Place::output, "output", false},
                                            {Place::slot, "slot", true},
                                            {Place::peer_slot, "peer_slot", true},
                                            {Place::peer_input, "peer_input", true},
                                            {Place::peer_output, "peer_output", true}};

struct StepName {
  StepKind kind;
  std::string_view name;
};
// A step is {name: peer}; combine is {"combine": [slices], "to": [slices]}.
inline constexpr StepName step_names[] = {{StepKind::wait, "wait"},
                                          {StepKind::release, "release"},
                                          {StepKind::signal, "signal"},
                                          {StepKind::await, "await"}};

}  // namespace gyre::plan

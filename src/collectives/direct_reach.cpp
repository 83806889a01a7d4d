// SPDX-License-Identifier: Apache-2.0
// What a plan that is not of the catalog asks of the buffers, read off its steps.
#include "collectives/direct.h"

namespace gyre::plan {

namespace {

void add(const Slice& slice, int root, Reach& reach) {
  using Whose = Reach::Whose;
  if (slice.place != Place::peer_input && slice.place != Place::peer_output) return;
  Whose& whose = slice.place == Place::peer_input ? reach.inputs : reach.outputs;
  if (slice.peer != root) {
    whose = Whose::everybody;
  } else if (whose == Whose::nobody) {
    whose = Whose::root;
  }
}

}  // namespace

Reach reach_of(const Plan& plan) {
  Reach reach;
  for (const Program& program : plan.programs) {
    for (const Step& step : program) {
      for (const Slice& slice : step.sources) add(slice, plan.root, reach);
      for (const Slice& slice : step.destinations) add(slice, plan.root, reach);
    }
  }
  return reach;
}

}  // namespace gyre::plan

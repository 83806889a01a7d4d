// SPDX-License-Identifier: Apache-2.0
#include "collectives/estimate.h"

#include <algorithm>

#include "collectives/estimate_machine.h"
#include "collectives/estimate_script.h"
#include "collectives/geometry.h"
#include "collectives/layout.h"

namespace gyre::plan {

namespace {

Result<Estimate> run(const Plan& plan, const EstimateScript& script, const Workload& workload) {
  const bool staged = plan.protocol == Protocol::staged;
  const Geometry geometry(
      {.count = workload.count,
       .element_bytes = workload.element_bytes,
       .blocks = layout_of(plan.collective).sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks),
       .slot_bytes = plan.protocol == Protocol::direct ? unbounded_slot : workload.slot_bytes,
       .channels = static_cast<std::uint64_t>(workload.channels)});
  return EstimateMachine(script, plan.ranks, geometry, workload.element_bytes, workload.channels,
                         staged ? std::max(workload.slots, plan.slots) : 0)
      .run();
}

}  // namespace

Result<Estimate> estimate(const Plan& plan, const NetworkModel& network, const Workload& workload) {
  EstimateScript script(plan, network);
  for (const Program& program : plan.programs) script.add(program);
  return run(plan, script, workload);
}

Result<Estimate> estimate(const Plan& description,
                          const std::function<Program(int rank)>& program_of,
                          const NetworkModel& network, const Workload& workload) {
  EstimateScript script(description, network);
  for (int rank = 0; rank < description.ranks; ++rank) script.add(program_of(rank));
  return run(description, script, workload);
}

Result<Estimate> estimate(const Recipe& recipe, const NetworkModel& network,
                          const Workload& workload) {
  return estimate(
      describe(recipe), [&](int rank) { return program_of(recipe, rank); }, network, workload);
}

double bus_bandwidth(Collective collective, int ranks, double bytes, double seconds) {
  if (seconds <= 0) return 0;
  const double others = ranks - 1;
  if (collective == Collective::all_reduce) return 2 * others / ranks * bytes / seconds;
  return (layout_of(collective).sectioned ? others : 1) * bytes / seconds;
}

}  // namespace gyre::plan

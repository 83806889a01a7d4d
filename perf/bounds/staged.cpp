// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/staged.h"

#include <new>

#include "perf/bounds/staged_member.h"

namespace bounds {
namespace {

Best measure_size(std::size_t bytes, const ClockRule& rule) {
  const std::size_t count = bytes / sizeof(float);
  const SharedMemory shared(sizeof(StagedArena));
  // Nothing to construct, nothing to touch.
  auto& arena = *std::launder(reinterpret_cast<StagedArena*>(shared.data()));
  Best best;
  run_processes(2, arena.team, [&](Team& team) {
    // After the fork, so that the buffers are private.
    UserBuffers user(count, team.rank());
    StagedMember member(arena, team, user, count);
    const Best mine = find_best(team, rule, staged_variants(member, bytes), [&](const Variant& v) {
      user.poison();
      v.run();
      user.verify(2, "staged " + v.name);
      team.barrier();
    });
    if (team.rank() == 0) best = mine;
    team.barrier();
  });
  return best;
}

}  // namespace

std::vector<Best> measure_staged_floor(const std::vector<std::size_t>& sizes,
                                       const ClockRule& rule) {
  std::vector<Best> results;
  results.reserve(sizes.size());
  for (const std::size_t bytes : sizes) results.push_back(measure_size(bytes, rule));
  return results;
}

}  // namespace bounds

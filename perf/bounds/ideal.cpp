// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/ideal.h"

#include <array>

#include "perf/bounds/arena.h"
#include "perf/bounds/loops.h"
#include "perf/bounds/mail.h"

namespace bounds {
namespace {

class Member {
 public:
  Member(Arena& arena, Team& team, std::size_t count)
      : arena_(arena),
        team_(team),
        count_(count),
        loops_(best_loops()),
        doors_(arena, team),
        mail_(arena.boxes.data(), team) {}

  void by_mail() { mail_.all_reduce(arena_.in[rank()], arena_.out[rank()], count_); }

  // Everybody reduces everything into its own result.
  void one_shot(Store store) {
    doors_.enter();
    reduce({0, count_}, &arena_.out[rank()], 1, store);
    doors_.leave();
  }

  // Everybody reduces its slice into everybody's result.
  void two_shot(Store store) {
    doors_.enter();
    reduce(slice_of(count_, team_.rank(), team_.size()), arena_.out.data(),
           static_cast<std::size_t>(team_.size()), store);
    doors_.leave();
  }

 private:
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(team_.rank()); }

  void reduce(Slice slice, float* const* to, std::size_t destinations, Store store) {
    const std::size_t at = slice.first;
    if (team_.size() == 2) {
      const float* a = arena_.in[0] + at;
      const float* b = arena_.in[1] + at;
      if (destinations == 1) return loops_.add(to[0] + at, a, b, slice.count, store);
      return loops_.add_twice(to[0] + at, to[1] + at, a, b, slice.count, store);
    }
    std::array<float*, most_members> targets{};
    std::array<const float*, most_members> sources{};
    for (std::size_t d = 0; d < destinations; ++d) targets[d] = to[d] + at;
    const auto members = static_cast<std::size_t>(team_.size());
    for (std::size_t s = 0; s < members; ++s) sources[s] = arena_.in[s] + at;
    loops_.add_many(targets.data(), destinations, sources.data(), members, slice.count, store);
  }

  Arena& arena_;
  Team& team_;
  std::size_t count_;
  const Loops& loops_;
  Doors doors_;
  Mail mail_;
};

std::vector<Variant> variants_of(Member& member, std::size_t bytes) {
  constexpr std::size_t streaming_pays_from = 65536;
  std::vector<Variant> variants;
  if (bytes <= most_mail_bytes) variants.push_back({"mail", [&] { member.by_mail(); }});
  variants.push_back({"one-shot", [&] { member.one_shot(Store::cached); }});
  variants.push_back({"two-shot", [&] { member.two_shot(Store::cached); }});
  if (bytes >= streaming_pays_from) {
    variants.push_back({"one-shot/streaming", [&] { member.one_shot(Store::streaming); }});
    variants.push_back({"two-shot/streaming", [&] { member.two_shot(Store::streaming); }});
  }
  return variants;
}

Best measure_size(int ranks, std::size_t bytes, const ClockRule& rule) {
  const std::size_t count = bytes / sizeof(float);
  Best best;
  Arena arena(ranks);
  run_threads(ranks, [&](Team& team) {
    UserBuffers user(count, team.rank());
    arena.in[static_cast<std::size_t>(team.rank())] = user.in();
    arena.out[static_cast<std::size_t>(team.rank())] = user.out();
    team.barrier();
    Member member(arena, team, count);
    const Best mine = find_best(team, rule, variants_of(member, bytes), [&](const Variant& v) {
      user.poison();
      team.barrier();
      v.run();
      user.verify(team.size(), "ideal " + v.name);
      team.barrier();
    });
    if (team.rank() == 0) best = mine;
    team.barrier();
  });
  return best;
}

}  // namespace

std::vector<Best> measure_ideal(Collective collective, int ranks,
                                const std::vector<std::size_t>& sizes, const ClockRule& rule) {
  std::vector<Best> results;
  results.reserve(sizes.size());
  for (const std::size_t bytes : sizes) {
    results.push_back(collective == Collective::all_reduce
                          ? measure_size(ranks, bytes, rule)
                          : measure_moves(Problem(collective, ranks, bytes), rule));
  }
  return results;
}

}  // namespace bounds

// SPDX-License-Identifier: Apache-2.0
// The ideal of everything that is moves from buffer to buffer: who makes them is what is tried.
#include <array>

#include "perf/bounds/arena.h"
#include "perf/bounds/ideal.h"
#include "perf/bounds/loops.h"
#include "perf/bounds/section_mail.h"

namespace bounds {
namespace {

enum class Way { pull, push, split };

class Mover {
 public:
  Mover(Arena& arena, const Team& team, const Problem& problem)
      : arena_(arena),
        team_(team),
        count_(problem.count()),
        moves_(problem.moves()),
        loops_(best_loops()),
        doors_(arena, team),
        mail_(arena.boxes.data(), team, problem) {}

  void by_mail() {
    const auto own = static_cast<std::size_t>(team_.rank());
    mail_.run(arena_.in[own], arena_.out[own]);
  }

  void meet() { doors_.enter(); }

  // Each move is made by its receiver, by its sender, or by all members, a part each.
  void run(Way way, Store store) {
    doors_.enter();
    for (const Move& move : moves_) {
      if (way == Way::split) {
        make(move, slice_of(count_, team_.rank(), team_.size()), store);
      } else if (team_.rank() == (way == Way::pull ? move.to : move.from)) {
        make(move, {0, count_}, store);
      }
    }
    doors_.leave();
  }

 private:
  void make(const Move& move, Slice slice, Store store) {
    float* to = arena_.out[static_cast<std::size_t>(move.to)] + move.to_at + slice.first;
    const std::size_t from_at = move.from_at + slice.first;
    if (move.from != Move::everyone) {
      const float* const from = arena_.in[static_cast<std::size_t>(move.from)] + from_at;
      return loops_.copy(to, from, slice.count, store);
    }
    const auto members = static_cast<std::size_t>(team_.size());
    std::array<const float*, most_members> sources{};
    for (std::size_t s = 0; s < members; ++s) sources[s] = arena_.in[s] + from_at;
    if (members == 2) return loops_.add(to, sources[0], sources[1], slice.count, store);
    loops_.add_many(&to, 1, sources.data(), members, slice.count, store);
  }

  Arena& arena_;
  const Team& team_;
  std::size_t count_;
  std::vector<Move> moves_;
  const Loops& loops_;
  Doors doors_;
  SectionMail mail_;
};

void add_ways(std::vector<Variant>& variants, Mover& mover, const Problem& problem, Store store) {
  const char* const suffix = store == Store::streaming ? "/streaming" : "";
  const auto add = [&](const char* name, Way way) {
    variants.push_back(
        {std::string(name) + suffix, [&mover, way, store] { mover.run(way, store); }});
  };
  add("pull", Way::pull);
  if (!problem.reduces()) add("push", Way::push);
  add("split", Way::split);
}

std::vector<Variant> variants_of(Mover& mover, const Problem& problem) {
  constexpr std::size_t streaming_pays_from = 65536 / sizeof(float);
  if (problem.collective() == Collective::barrier) return {{"flags", [&] { mover.meet(); }}};
  std::vector<Variant> variants;
  if (SectionMail::fits(problem)) variants.push_back({"mail", [&] { mover.by_mail(); }});
  add_ways(variants, mover, problem, Store::cached);
  // Streaming stores want whole cache lines, so sections that begin with one.
  if (problem.count() >= streaming_pays_from && problem.count() % line_elements == 0) {
    add_ways(variants, mover, problem, Store::streaming);
  }
  return variants;
}

}  // namespace

Best measure_moves(const Problem& problem, const ClockRule& rule) {
  Best best;
  Arena arena(problem.ranks());
  run_threads(problem.ranks(), [&](Team& team) {
    const int rank = team.rank();
    UserBuffers user(problem.in_count(rank), problem.out_count(rank), rank);
    arena.in[static_cast<std::size_t>(rank)] = user.in();
    arena.out[static_cast<std::size_t>(rank)] = user.out();
    team.barrier();
    Mover mover(arena, team, problem);
    const auto verify = [&](const Variant& variant) {
      user.poison();
      team.barrier();
      variant.run();
      team.barrier();
      user.verify([&](std::size_t index) { return problem.expected(rank, index); },
                  "ideal " + variant.name);
      team.barrier();
    };
    const Best mine = find_best(team, rule, variants_of(mover, problem), verify);
    if (rank == 0) best = mine;
    team.barrier();
  });
  return best;
}

}  // namespace bounds

// SPDX-License-Identifier: Apache-2.0
// floor_perf: Gyre's AllReduce (float32, sum, ordinary buffers) beside the staged floor, in the same
// two processes and in turns, so that whatever happens to the machine happens to both.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "gyre/gyre.h"
#include "perf/bounds/staged_member.h"

namespace {

using namespace bounds;

struct Options {
  std::vector<std::size_t> sizes = {8,     64,     1024,    4096,    16384,
                                    65536, 262144, 1048576, 4194304, 16777216};
  int rounds = 30;
  double turn_ms = 1;
};

struct Shared {
  StagedArena arena;
  gyreUniqueId id;
};

// Of one size at one placement of the cores.
struct Figures {
  std::vector<double> gyre, floor, ratio;
  std::map<std::string, int> best_shapes;
};

void check(gyreResult_t result) {
  if (result != gyreSuccess) throw std::runtime_error(gyreGetLastError(nullptr));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void print(std::size_t bytes, bool near, const Figures& figures) {
  const auto shape = std::max_element(
      figures.best_shapes.begin(), figures.best_shapes.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  std::printf("%10zu  %s %7zu %12.3f %12.3f %8.2f   %s\n", bytes, near ? "near" : "far ",
              figures.gyre.size(), median(figures.gyre), median(figures.floor),
              median(figures.ratio), shape->first.c_str());
}

// The few variants that are worth a place in every round. Both members choose alike: all figures
// are the maximum over them.
std::vector<Variant> finalists(Team& team, std::vector<Variant> variants) {
  constexpr ClockRule trial{1, 0.3};
  constexpr std::size_t places = 4;
  std::vector<std::pair<double, std::size_t>> times;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    double best = measure(team, trial, variants[i].run).microseconds;
    best = std::min(best, measure(team, trial, variants[i].run).microseconds);
    times.emplace_back(best, i);
  }
  std::sort(times.begin(), times.end());
  std::vector<Variant> chosen;
  for (std::size_t i = 0; i < std::min(places, times.size()); ++i) {
    chosen.push_back(variants[times[i].second]);
  }
  return chosen;
}

// Whether a message of 8 bytes crosses quickly: 0 or 1; -1 when the cores moved meanwhile.
int placement(double before_us, double after_us) {
  constexpr double far_from_us = 0.15;
  const bool near_before = before_us < far_from_us;
  return near_before == (after_us < far_from_us) ? static_cast<int>(near_before) : -1;
}

void measure_size(Team& team, Shared& shared, gyreComm_t comm, const Options& options,
                  std::size_t bytes) {
  const std::size_t count = bytes / sizeof(float);
  UserBuffers floor_user(count, team.rank());
  UserBuffers gyre_user(count, team.rank());
  StagedMember member(shared.arena, team, floor_user, count);
  StagedMember probe(shared.arena, team, floor_user, std::min<std::size_t>(count, 2));
  const auto variants = finalists(team, staged_variants(member, bytes));
  const ClockRule turn{1, options.turn_ms};
  const auto call = [&] {
    check(
        gyreAllReduce(gyre_user.in(), gyre_user.out(), count, gyreFloat32, gyreSum, comm, nullptr));
  };
  const auto probed = [&] {
    return measure(team, {1000, 0}, [&] { probe.by_mail(); }).microseconds;
  };
  std::array<Figures, 2> figures;  // far, near
  for (int round = 0; round < options.rounds; ++round) {
    const double before = probed();
    double gyre = measure(team, turn, call).microseconds;
    Best floor;
    for (const Variant& variant : variants) {
      const Measured measured = measure(team, turn, variant.run);
      if (floor.name.empty() || measured.microseconds < floor.measured.microseconds) {
        floor = {variant.name, measured};
      }
    }
    gyre = std::min(gyre, measure(team, turn, call).microseconds);
    const int near = placement(before, probed());
    if (near < 0) continue;
    Figures& into = figures[static_cast<std::size_t>(near)];
    into.gyre.push_back(gyre);
    into.floor.push_back(floor.measured.microseconds);
    into.ratio.push_back(gyre / floor.measured.microseconds);
    ++into.best_shapes[floor.name];
  }
  gyre_user.verify(2, "gyre");
  for (const bool near : {true, false}) {
    const Figures& of = figures[near ? 1 : 0];
    if (team.rank() == 0 && !of.gyre.empty()) print(bytes, near, of);
  }
  std::fflush(stdout);
  team.barrier();
}

void run(const Options& options) {
  const SharedMemory memory(sizeof(Shared));
  auto& shared = *std::launder(reinterpret_cast<Shared*>(memory.data()));
  std::printf(
      "#    bytes  cores   rounds    gyre (us)   floor (us)    ratio   shape of the floor\n");
  std::fflush(stdout);
  run_processes(2, shared.arena.team, [&](Team& team) {
    if (team.rank() == 0) check(gyreGetUniqueId(&shared.id));
    team.barrier();
    gyreComm_t comm = nullptr;
    check(gyreCommInitRank(&comm, 2, shared.id, team.rank()));
    for (const std::size_t bytes : options.sizes) measure_size(team, shared, comm, options, bytes);
    check(gyreCommDestroy(comm));
  });
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Gyre's AllReduce beside the staged floor, in turns", "floor_perf");
  app.add_option("--sizes", options.sizes, "Sizes in bytes, multiples of 4")
      ->transform(CLI::AsSizeValue{false})
      ->delimiter(',');
  app.add_option("--rounds", options.rounds, "Turns of each")->check(CLI::PositiveNumber);
  app.add_option("--turn", options.turn_ms, "Milliseconds of a turn")->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
    run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "floor_perf: %s\n", error.what());
    return 1;
  }
  return 0;
}

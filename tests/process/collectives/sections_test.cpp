// SPDX-License-Identifier: Apache-2.0
// All collectives but AllReduce over real processes: every rank count, root, size around the limits
// of the choice, form in place and forced algorithm, against sums of integers that are known.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <cstdint>
#include <string>
#include <vector>

#include "process/collectives/arena.h"
#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

using Value = std::int32_t;
using Values = std::vector<Value>;

constexpr Value poison = -1234567;
constexpr std::size_t guard = 16;  // elements behind each output that nobody may touch

// Element i of section `section` of what `rank` contributes in call number `call`.
Value element(int rank, std::size_t section, std::size_t i, int call) {
  return static_cast<Value>((static_cast<std::size_t>(rank) * 7919 + section * 104729 + i * 31 +
                             static_cast<std::size_t>(call) * 17) %
                            1000003);
}

struct Shape {
  gyreComm_t comm;
  int rank, ranks, root, call;
  std::size_t count;
  bool in_place;

  [[nodiscard]] std::size_t all() const { return static_cast<std::size_t>(ranks); }
  [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(rank); }
  [[nodiscard]] bool at_root() const { return rank == root; }
  [[nodiscard]] Value sum(std::size_t section, std::size_t i) const {
    Value total = 0;
    for (int source = 0; source < ranks; ++source) total += element(source, section, i, call);
    return total;
  }
};

Values input_of(const Shape& shape, std::size_t sections) {
  Values values;
  for (std::size_t section = 0; section < sections; ++section) {
    for (std::size_t i = 0; i < shape.count; ++i) {
      values.push_back(element(shape.rank, section, i, shape.call));
    }
  }
  return values;
}

// A call of one collective: buffers, the call, and what must come of it.
class Player {
 public:
  // The calls work in `in` and `out`, which have room for all.
  Player(Checks& checks, const Shape& shape, const Arena& in, const Arena& out)
      : checks_(checks),
        shape_(shape),
        in_(reinterpret_cast<Value*>(in.data())),
        out_(reinterpret_cast<Value*>(out.data())) {}

  void reduce() {
    prepare(1, shape_.at_root() ? 1 : 0, 0);
    make("Reduce", gyreReduce(send(), receive(), shape_.count, gyreInt32, gyreSum, shape_.root,
                              shape_.comm, nullptr));
    expect([&](std::size_t, std::size_t i) { return shape_.sum(0, i); });
  }
  void broadcast() {
    prepare(shape_.at_root() ? 1 : 0, 1, 0);
    make("Broadcast", gyreBroadcast(send(), receive(), shape_.count, gyreInt32, shape_.root,
                                    shape_.comm, nullptr));
    expect([&](std::size_t, std::size_t i) { return element(shape_.root, 0, i, shape_.call); });
  }
  void all_gather() {
    prepare(1, shape_.all(), shape_.own());
    make("AllGather",
         gyreAllGather(send(), receive(), shape_.count, gyreInt32, shape_.comm, nullptr));
    expect([&](std::size_t section, std::size_t i) {
      return element(static_cast<int>(section), 0, i, shape_.call);
    });
  }
  void gather() {
    prepare(1, shape_.at_root() ? shape_.all() : 0, shape_.own());
    make("Gather",
         gyreGather(send(), receive(), shape_.count, gyreInt32, shape_.root, shape_.comm, nullptr));
    expect([&](std::size_t section, std::size_t i) {
      return element(static_cast<int>(section), 0, i, shape_.call);
    });
  }
  void reduce_scatter() {
    prepare(shape_.all(), 1, shape_.own());
    make("ReduceScatter", gyreReduceScatter(send(), receive(), shape_.count, gyreInt32, gyreSum,
                                            shape_.comm, nullptr));
    expect([&](std::size_t, std::size_t i) { return shape_.sum(shape_.own(), i); });
  }
  void scatter() {
    prepare(shape_.at_root() ? shape_.all() : 0, 1, shape_.own());
    make("Scatter", gyreScatter(send(), receive(), shape_.count, gyreInt32, shape_.root,
                                shape_.comm, nullptr));
    expect([&](std::size_t, std::size_t i) {
      return element(shape_.root, shape_.own(), i, shape_.call);
    });
  }
  void all_to_all() {
    prepare(shape_.all(), shape_.all(), 0);
    make("AllToAll",
         gyreAllToAll(send(), receive(), shape_.count, gyreInt32, shape_.comm, nullptr));
    expect([&](std::size_t section, std::size_t i) {
      return element(static_cast<int>(section), shape_.own(), i, shape_.call);
    });
  }

  [[nodiscard]] const std::string& plan() const { return plan_; }

 private:
  // `shift`: in place, the section of the longer buffer that is the shorter one.
  void prepare(std::size_t send_sections, std::size_t receive_sections, std::size_t shift) {
    sections_ = receive_sections;
    input_ = input_of(shape_, send_sections);
    in_place_ = shape_.in_place && send_sections > 0 && receive_sections > 0;
    if (!in_place_) {
      output_.assign(receive_sections * shape_.count + guard, poison);
      fill();
      return;
    }
    output_ = input_;
    if (receive_sections > send_sections) {
      output_.assign(receive_sections * shape_.count, poison);
      std::copy(input_.begin(), input_.end(), output_.begin() + at(shift));
      send_at_ = shift * shape_.count;
    } else if (send_sections > receive_sections) {
      receive_at_ = shift * shape_.count;
    }
    output_.resize(output_.size() + guard, poison);
    fill();
  }
  void fill() {
    std::copy(input_.begin(), input_.end(), in_);
    std::copy(output_.begin(), output_.end(), out_);
  }
  [[nodiscard]] std::ptrdiff_t at(std::size_t section) const {
    return static_cast<std::ptrdiff_t>(section * shape_.count);
  }
  const Value* send() {
    if (in_place_) return out_ + send_at_;
    return input_.empty() && shape_.count > 0 ? nullptr : in_;
  }
  Value* receive() { return sections_ == 0 ? nullptr : out_ + receive_at_; }

  void make(const char* name, gyreResult_t result) {
    name_ = name;
    checks_.succeeded(result, describe());
    std::copy(out_, out_ + output_.size(), output_.begin());
    const char* plan = "";
    gyreCommGetLastPlan(shape_.comm, &plan);
    plan_ = plan;
    if (!in_place_) {
      checks_.that(std::equal(input_.begin(), input_.end(), in_), describe() + ": its input");
    }
  }
  template <typename Wanted>
  void expect(const Wanted& wanted) {
    for (std::size_t section = 0; section < sections_; ++section) {
      for (std::size_t i = 0; i < shape_.count; ++i) {
        const Value got = output_[receive_at_ + section * shape_.count + i];
        if (got != wanted(section, i)) {
          checks_.that(false, describe(),
                       "section " + std::to_string(section) + ", element " + std::to_string(i) +
                           ": " + std::to_string(got));
          return;
        }
      }
    }
    for (std::size_t i = 0; i < guard; ++i) {
      checks_.that(output_[output_.size() - 1 - i] == poison, describe() + ": behind its end");
    }
  }
  [[nodiscard]] std::string describe() const {
    return std::string(name_) + " (" + plan_ + ") of " + std::to_string(shape_.count) + ", root " +
           std::to_string(shape_.root) + (shape_.in_place ? ", in place" : "");
  }

  Checks& checks_;
  const Shape& shape_;
  Value* in_;
  Value* out_;
  Values input_, output_;
  std::string plan_;
  std::size_t sections_ = 0, send_at_ = 0, receive_at_ = 0;
  bool in_place_ = false;
  const char* name_ = "";
};

// Arguments: the most elements of a section, the kind of memory.
int play_all(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  const std::size_t most = std::stoull(arguments[0]);
  auto memory = static_cast<Memory>(std::stoi(arguments[1]));
  const bool shared = memory == Memory::shared;
  if (memory == Memory::mixed) memory = own_rank() % 2 == 0 ? Memory::shared : Memory::heap;
  const std::size_t room = (150'000 * static_cast<std::size_t>(world_size()) + guard) * 4;
  const Arena in(checks, comm.get(), memory, room);
  const Arena out(checks, comm.get(), memory, room);
  Shape shape{.comm = comm.get(),
              .rank = own_rank(),
              .ranks = world_size(),
              .root = 0,
              .call = 0,
              .count = 0,
              .in_place = false};
  for (const std::size_t count : {0, 1, 7, 255, 257, 4096, 4099, 33'000, 140'001}) {
    if (count > most) break;
    shape.count = count;
    for (const bool in_place : {false, true}) {
      shape.in_place = in_place;
      // Another root each time, so that all have had their turn.
      shape.root = ++shape.call % shape.ranks;
      for (const auto play :
           {&Player::reduce, &Player::broadcast, &Player::all_gather, &Player::gather,
            &Player::reduce_scatter, &Player::scatter, &Player::all_to_all}) {
        Player player(checks, shape, in, out);
        (player.*play)();
        // Whatever is large enough and mapped everywhere is done where it is.
        if (shared && shape.ranks > 1 && count >= 33'000 &&
            !(in_place && play == &Player::all_to_all)) {
          checks.that(player.plan().ends_with("/direct"), "direct", player.plan());
        }
      }
    }
  }
  return checks.exit_code();
}

void run_all(int ranks, std::vector<std::string> environment, std::size_t most,
             Memory memory = Memory::heap) {
  environment.emplace_back("GYRE_TIMEOUT=20");
  Job job =
      Job::start({.role = "all",
                  .ranks = ranks,
                  .arguments = {std::to_string(most), std::to_string(static_cast<int>(memory))},
                  .environment = environment,
                  .limit = std::chrono::seconds(120)});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

class Sections : public testing::TestWithParam<int> {};

TEST_P(Sections, AllCollectivesGiveWhatTheyPromise) {
  run_all(GetParam(), {}, 200'000);
}
INSTANTIATE_TEST_SUITE_P(Ranks, Sections,
                         testing::ValuesIn(under_sanitizer ? std::vector{3}
                                                           : std::vector{1, 2, 3, 4, 5, 8}));

TEST_P(Sections, WhateverMemoryTheyWorkIn) {
  for (const Memory memory : {Memory::shared, Memory::registered, Memory::mixed}) {
    SCOPED_TRACE(name_of(memory));
    run_all(GetParam(), {}, 200'000, memory);
    run_all(GetParam(), {"GYRE_PROTO=direct"}, 5'000, memory);  // the smallest sizes, too
  }
}

class ForcedSections : public testing::TestWithParam<const char*> {};

// Tiny chunks wrap every FIFO many times.
TEST_P(ForcedSections, WhateverIsForced) {
  for (const int ranks : {2, 5}) {
    run_all(ranks, {GetParam(), "GYRE_CHUNK=512"}, 5'000);
  }
}
INSTANTIATE_TEST_SUITE_P(Algorithms, ForcedSections,
                         testing::Values("GYRE_ALGO=ring", "GYRE_ALGO=oneshot", "GYRE_ALGO=twoshot",
                                         "GYRE_ALGO=chain", "GYRE_ALGO=binomial", "GYRE_ALGO=tree",
                                         "GYRE_ALGO=doubling", "GYRE_ALGO=bruck",
                                         "GYRE_ALGO=pairwise", "GYRE_ALGO=pat",
                                         "GYRE_ALGO=hierarchical", "GYRE_PROTO=inline"));

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"all", gyre::test::play_all}});
}

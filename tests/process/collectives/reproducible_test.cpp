// SPDX-License-Identifier: Apache-2.0
// GYRE_REPRODUCIBLE=1: the same bits whatever algorithm, protocol, chunk and memory, those of the
// contributions combined in the order of ranks; what would do otherwise is refused.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "process/collectives/arena.h"
#include "support/checks.h"
#include "support/element.h"
#include "support/job.h"

namespace gyre::test {
namespace {

constexpr std::size_t counts[] = {3, 37, 1000, 40'009};
constexpr std::size_t largest = 40'009;
constexpr gyreDataType_t types[] = {gyreFloat32, gyreFloat16, gyreFloat8e5m2};
constexpr gyreRedOp_t ops[] = {gyreSum, gyreAvg};

std::uint64_t input_of(gyreDataType_t type, int rank, std::size_t i) {
  return random_element(type, static_cast<std::uint64_t>(rank) + 100, i);
}

// Reduces a vector by AllReduce, Reduce and ReduceScatter, which all must come to the same.
class Reducer {
 public:
  Reducer(Checks& checks, gyreComm_t comm, Memory memory)
      : checks_(checks),
        comm_(comm),
        ranks_(world_size()),
        in_(checks, comm, memory, largest * 8 * static_cast<std::size_t>(ranks_)),
        out_(checks, comm, memory, largest * 8) {}

  // Says a digest of each result.
  void play(gyreDataType_t type, gyreRedOp_t op, std::size_t count) {
    const std::string what = std::string(name_of(type)) + " op " + std::to_string(op) + " of " +
                             std::to_string(count) + ": ";
    fill(type, count, 1);
    checks_.succeeded(gyreAllReduce(in_.data(), out_.data(), count, type, op, comm_, nullptr),
                      what);
    const std::uint64_t everywhere = digest(type, count);
    say("bits of " + what + std::to_string(everywhere));
    if (type == gyreFloat32 && op == gyreSum) check_order(count, what);
    const int root = static_cast<int>(count) % ranks_;
    fill(type, count, 1);
    checks_.succeeded(gyreReduce(in_.data(), out_.data(), count, type, op, root, comm_, nullptr),
                      what);
    if (own_rank() == root) {
      checks_.that(digest(type, count) == everywhere, "Reduce gives what AllReduce gives", what);
    }
    fill(type, count, ranks_);
    checks_.succeeded(gyreReduceScatter(in_.data(), out_.data(), count, type, op, comm_, nullptr),
                      what);
    checks_.that(digest(type, count) == everywhere, "ReduceScatter gives what AllReduce gives",
                 what);
  }

 private:
  // All sections alike.
  void fill(gyreDataType_t type, std::size_t count, int sections) {
    const std::size_t bytes = count * size_of(type);
    for (std::size_t i = 0; i < count; ++i) {
      store_bits(type, input_of(type, own_rank(), i), in_.data() + i * size_of(type));
    }
    for (int section = 1; section < sections; ++section) {
      std::memcpy(in_.data() + static_cast<std::size_t>(section) * bytes, in_.data(), bytes);
    }
    std::memset(out_.data(), 0xa5, largest * 8);
  }
  [[nodiscard]] std::uint64_t digest(gyreDataType_t type, std::size_t count) const {
    return hash({out_.data(), count * size_of(type)});
  }
  // From left to right, each sum rounded to float32: which order it is, not only that it is one.
  void check_order(std::size_t count, const std::string& what) {
    for (std::size_t i = 0; i < count; ++i) {
      auto sum = static_cast<float>(decode(gyreFloat32, input_of(gyreFloat32, 0, i)));
      for (int rank = 1; rank < ranks_; ++rank) {
        sum += static_cast<float>(decode(gyreFloat32, input_of(gyreFloat32, rank, i)));
      }
      const std::uint64_t found = load_bits(gyreFloat32, out_.data() + i * sizeof(float));
      if (decode(gyreFloat32, found) != static_cast<double>(sum)) {
        checks_.that(false, "the order of ranks", what + " element " + std::to_string(i));
        return;
      }
    }
  }

  Checks& checks_;
  gyreComm_t comm_;
  int ranks_;
  Arena in_, out_;
};

// Arguments: the kind of memory, the most elements.
int play_sums(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  Reducer reducer(checks, comm.get(), static_cast<Memory>(std::stoi(arguments[0])));
  for (const gyreDataType_t type : types) {
    for (const gyreRedOp_t op : ops) {
      for (const std::size_t count : counts) {
        if (count > std::stoull(arguments[1])) break;
        if (checks.failures() == 0) reducer.play(type, op, count);
      }
    }
  }
  return checks.exit_code();
}

// Argument: the algorithm of GYRE_ALGO, which is admitted for no reduction.
int play_refusal(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  std::vector<float> data(50'000, 1);
  if (!comm) {
    return checks.exit_code();
  }
  const gyreResult_t result = arguments[0] == "ring"
                                  ? gyreAllReduce(data.data(), data.data(), data.size(),
                                                  gyreFloat32, gyreSum, comm.get(), nullptr)
                                  : gyreReduce(data.data(), data.data(), data.size(), gyreFloat32,
                                               gyreSum, 0, comm.get(), nullptr);
  checks.refused(result, gyreInvalidUsage, "a reduction in another order",
                 {"GYRE_REPRODUCIBLE", arguments[0], "oneshot", "twoshot"});
  // What does not reduce runs by any algorithm; and the communicator is sound.
  checks.succeeded(
      gyreBroadcast(data.data(), data.data(), data.size(), gyreFloat32, 0, comm.get(), nullptr),
      "a broadcast after the refusal");
  return checks.exit_code();
}

// One AllReduce of the sums above, by whatever is forced.
int play_sum(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  std::vector<float> data(largest);
  for (std::size_t i = 0; i < largest; ++i) {
    data[i] = static_cast<float>(decode(gyreFloat32, input_of(gyreFloat32, own_rank(), i)));
  }
  checks.succeeded(
      gyreAllReduce(data.data(), data.data(), largest, gyreFloat32, gyreSum, comm.get(), nullptr),
      "gyreAllReduce");
  say("bits of float32 op 0 of " + std::to_string(largest) + ": " +
      std::to_string(hash(std::as_bytes(std::span(data)))));
  return checks.exit_code();
}

std::string bits_of(const RankOutcome& outcome) {
  std::istringstream lines(outcome.output);
  std::string bits;
  for (std::string line; std::getline(lines, line);) {
    bits += line.starts_with("bits of ") ? line + '\n' : "";
  }
  return bits;
}

struct Setup {
  int ranks = 1;
  std::vector<std::string> environment{};
  Memory memory = Memory::heap;
  std::size_t most = largest;
  int reproducible_ranks = -1;  // only ranks below have the setting; -1: all
};

// What all ranks agree on.
std::string bits_with(const Setup& setup) {
  std::vector<std::string> environment = setup.environment;
  environment.emplace_back("GYRE_TIMEOUT=20");
  Job job = Job::start(
      {.role = "sums",
       .ranks = setup.ranks,
       .arguments = {std::to_string(static_cast<int>(setup.memory)), std::to_string(setup.most)},
       .environment = environment,
       .rank_environment = [&setup](int rank) -> std::vector<std::string> {
         const bool has = setup.reproducible_ranks < 0 || rank < setup.reproducible_ranks;
         return {has ? "GYRE_REPRODUCIBLE=1" : "GYRE_REPRODUCIBLE=0"};
       }});
  const auto outcomes = job.wait();
  for (const RankOutcome& rank : outcomes) {
    EXPECT_TRUE(rank.succeeded()) << rank;
    EXPECT_EQ(bits_of(rank), bits_of(outcomes[0])) << rank.rank;
  }
  return bits_of(outcomes[0]);
}

class Reproducible : public testing::TestWithParam<int> {};

TEST_P(Reproducible, WhateverIsForced) {
  struct Way {
    const char *algorithm, *protocol;
  };
  constexpr Way ways[] = {{"", "inline"},        {"oneshot", "inline"}, {"oneshot", "staged"},
                          {"oneshot", "direct"}, {"twoshot", "staged"}, {"twoshot", "direct"}};
  for (const char* chunk : {"0", "64", "1000"}) {
    // Each tiny chunk is a message to all, and ranks may share a processor.
    const std::size_t most = std::string_view(chunk) == "0" ? largest : 1000;
    const std::string expected = bits_with({.ranks = GetParam(), .most = most});
    ASSERT_FALSE(expected.empty());
    for (const auto& [algorithm, protocol] : ways) {
      const bool direct = std::string_view(protocol) == "direct";
      const std::vector<std::string> environment = {
          std::string("GYRE_ALGO=") + algorithm, std::string("GYRE_PROTO=") + protocol,
          std::string("GYRE_CHUNK=") + chunk, "GYRE_CHANNELS=3"};
      EXPECT_EQ(bits_with({.ranks = GetParam(),
                           .environment = environment,
                           .memory = direct ? Memory::shared : Memory::heap,
                           .most = most}),
                expected)
          << testing::PrintToString(environment);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, Reproducible, testing::Values(2, 3, 7));

// What the test above could not see if sums of these numbers did not depend on their order.
TEST(ReproducibleOff, AnotherOrderGivesOtherBits) {
  const std::string expected = bits_with({.ranks = 5});
  for (const char* algorithm : {"oneshot", "ring"}) {
    Job job = Job::start(
        {.role = "sum", .ranks = 5, .environment = {std::string("GYRE_ALGO=") + algorithm}});
    const auto outcomes = job.wait();
    for (const RankOutcome& rank : outcomes) EXPECT_TRUE(rank.succeeded()) << rank;
    const std::string bits = bits_of(outcomes[0]);
    ASSERT_NE(bits, "");
    const bool same = expected.find(bits) != std::string::npos;
    EXPECT_EQ(same, std::string_view(algorithm) == "oneshot") << algorithm;
  }
}

// Rank 0's setting holds everywhere.
TEST(ReproducibleSetting, OfRankZeroHoldsOnAllRanks) {
  EXPECT_EQ(bits_with({.ranks = 5, .reproducible_ranks = 1}), bits_with({.ranks = 5}));
}

TEST(ReproducibleSetting, RefusesAnAlgorithmThatIsForced) {
  for (const char* algorithm : {"ring", "binomial"}) {
    Job job = Job::start({.role = "refusal",
                          .ranks = 3,
                          .arguments = {algorithm},
                          .environment = {std::string("GYRE_ALGO=") + algorithm,
                                          "GYRE_REPRODUCIBLE=1", "GYRE_TIMEOUT=20"}});
    for (const RankOutcome& rank : job.wait()) {
      EXPECT_TRUE(rank.succeeded()) << rank;
    }
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  using namespace gyre::test;
  return run(argc, argv, {{"sums", play_sums}, {"refusal", play_refusal}, {"sum", play_sum}});
}

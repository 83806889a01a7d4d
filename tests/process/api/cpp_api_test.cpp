// SPDX-License-Identifier: Apache-2.0
// gyre.hpp: what its types accept, and one job that walks through it.
#include <gtest/gtest.h>
#include <gyre/gyre.hpp>

#include <array>
#include <iostream>
#include <list>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "support/job.h"

namespace gyre::test {
namespace {

static_assert(data_type<std::int8_t> == gyreInt8);
static_assert(data_type<unsigned char> == gyreUint8);
static_assert(data_type<int> == gyreInt32);
static_assert(data_type<std::uint64_t> == gyreUint64);
static_assert(data_type<long long> == gyreInt64);
static_assert(data_type<double> == gyreFloat64);
static_assert(data_type<Bfloat16> == gyreBfloat16);
static_assert(!Element<bool> && !Element<char> && !Element<short> && !Element<std::string>);
static_assert(Source<std::vector<float>> && Source<std::span<const int>>);
static_assert(Source<SharedBuffer<float>> && Destination<SharedBuffer<float>>);
static_assert(!Source<std::list<float>> && !Source<std::vector<bool>>);
static_assert(Destination<std::array<int, 3>&> && !Destination<const std::vector<int>&>);
static_assert(!Destination<std::span<const int>>);
static_assert(!std::is_copy_constructible_v<Comm> && std::is_move_constructible_v<Comm>);

TEST(CppApi, AFailureHasCodeAndText) {
  const auto comm = Comm::init_rank(gyreUniqueId{}, 3, 2);
  EXPECT_FALSE(comm);
  EXPECT_EQ(comm.code(), gyreInvalidArgument);
  EXPECT_FALSE(comm.message().empty());
}

TEST(CppApi, TooLargeABufferIsRefused) {
  EXPECT_EQ(SharedBuffer<double>::allocate(SIZE_MAX / 4).code(), gyreInvalidArgument);
}

// Counts what does not hold, so that a rank's exit code tells.
class Expectations {
 public:
  void expect(bool holds, const char* what, const std::string& message = "") {
    if (!holds) {
      ++failures_;
      std::cout << "does not hold: " << what << ' ' << message << '\n';
    }
  }
  void expect(const Outcome<>& outcome, const char* what) {
    expect(outcome.ok(), what, outcome.message());
  }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  int failures_ = 0;
};

void reduce_ranges(Comm& comm, Expectations& all) {
  const int ranks = comm.size();
  const std::vector<int> in(5, comm.rank() + 1);
  std::array<int, 5> out{};
  out.fill(-1);
  all.expect(comm.all_reduce(in, out), "all_reduce");
  const int sum = ranks * (ranks + 1) / 2;
  all.expect(out == std::array{sum, sum, sum, sum, sum}, "sum");
  all.expect(comm.all_reduce(std::span(out).first(2), gyreMax), "all_reduce in place");
  all.expect(comm.all_reduce(in, std::span(out).first(4)).code() == gyreInvalidArgument,
             "unequal sizes are refused");
  all.expect(comm.health(), "health after a refusal");
}

void reduce_shared(Comm& comm, Expectations& all) {
  auto buffer = SharedBuffer<float>::allocate(1000);
  all.expect(buffer.ok(), "SharedBuffer", buffer.message());
  auto stream = Stream::create();
  all.expect(stream.ok(), "Stream", stream.message());
  if (!buffer || !stream) {
    return;
  }
  const auto registration = comm.register_memory(*buffer);
  all.expect(registration.ok(), "register_memory", registration.message());
  std::iota(buffer->begin(), buffer->end(), 0.0F);
  all.expect(comm.all_reduce(*buffer, gyreAvg, stream->get()), "all_reduce on a stream");
  all.expect(stream->synchronize(), "synchronize");
  all.expect((*buffer)[999] == 999.0F, "average");
}

int play_walk(std::span<const std::string> /*arguments*/) {
  Expectations all;
  auto made = Comm::from_environment();
  all.expect(made.ok(), "from_environment", made.message());
  if (!made) {
    return all.failures();
  }
  Comm comm = std::move(made).value();
  all.expect(comm.rank() == own_rank() && comm.size() == world_size(), "rank and size");
  reduce_ranges(comm, all);
  reduce_shared(comm, all);
  all.expect(!comm.last_plan().empty(), "last_plan");
  all.expect(comm.rank_info(0).ok(), "rank_info");
  all.expect(comm.barrier(), "barrier");
  all.expect(comm.destroy(), "destroy");
  all.expect(comm.rank() == -1, "a destroyed communicator has no rank");
  return all.failures();
}

TEST(CppApi, AJobWalksThroughIt) {
  Job job = Job::start({.role = "walk", .ranks = 3});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"walk", gyre::test::play_walk}});
}

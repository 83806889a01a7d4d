// SPDX-License-Identifier: Apache-2.0
// Values at the edges: NaN of any rank through min and max, averages that must not overflow on the
// way, integers that wrap.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks.h"
#include "support/element.h"
#include "support/job.h"

namespace gyre::test {
namespace {

constexpr std::array<gyreDataType_t, 6> floats = {gyreFloat16,  gyreFloat32,    gyreFloat64,
                                                  gyreBfloat16, gyreFloat8e4m3, gyreFloat8e5m2};

std::vector<std::uint64_t> reduce(Checks& checks, gyreComm_t comm, gyreDataType_t type,
                                  gyreRedOp_t op, const std::vector<std::uint64_t>& elements) {
  std::vector<std::byte> data(elements.size() * size_of(type));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    store_bits(type, elements[i], data.data() + i * size_of(type));
  }
  checks.succeeded(
      gyreAllReduce(data.data(), data.data(), elements.size(), type, op, comm, nullptr),
      "gyreAllReduce");
  std::vector<std::uint64_t> result(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    result[i] = load_bits(type, data.data() + i * size_of(type));
  }
  return result;
}

// The NaN stands on one rank, at every 7th element, in vector bodies and in tails.
int play_nan(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  for (const gyreDataType_t type : floats) {
    for (const gyreRedOp_t op : {gyreMin, gyreMax, gyreSum}) {
      for (int holder = 0; comm && holder < world_size(); ++holder) {
        for (const std::size_t count : {std::size_t{1}, std::size_t{67}, std::size_t{20'003}}) {
          std::vector<std::uint64_t> elements(count, encode_exactly(type, 1.0 + own_rank()));
          for (std::size_t i = 0; i < count && holder == own_rank(); i += 7) {
            elements[i] = quiet_nan(type);
          }
          const auto result = reduce(checks, comm.get(), type, op, elements);
          bool right = true;
          for (std::size_t i = 0; i < count; ++i) {
            right = right && std::isnan(decode(type, result[i])) == (i % 7 == 0);
          }
          checks.that(right, "NaN where a rank has one",
                      std::string(name_of(type)) + ", op " + std::to_string(op) + ", rank " +
                          std::to_string(holder) + ", " + std::to_string(count) + " elements");
        }
      }
    }
  }
  return checks.exit_code();
}

TEST(SpecialValues, NanOfAnyRankGoesThrough) {
  for (const char* algorithm : {"", "ring", "twoshot"}) {
    Job job = Job::start(
        {.role = "nan", .ranks = 3, .environment = {std::string("GYRE_ALGO=") + algorithm}});
    for (const RankOutcome& rank : job.wait()) {
      EXPECT_TRUE(rank.succeeded()) << rank;
    }
  }
}

bool all_equal(const std::vector<std::uint64_t>& found, std::uint64_t expected) {
  return std::ranges::all_of(found, [&](std::uint64_t bits) { return bits == expected; });
}

int play_edges(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  const auto same = [&](gyreDataType_t type, gyreRedOp_t op, std::uint64_t mine,
                        std::uint64_t expected, const char* what) {
    for (const std::size_t count : {std::size_t{3}, std::size_t{9001}}) {
      const auto found =
          reduce(checks, comm.get(), type, op, std::vector<std::uint64_t>(count, mine));
      checks.that(all_equal(found, expected), what, std::to_string(found.front()));
    }
  };
  constexpr std::uint64_t infinity16 = 0x7c00;
  // Four ranks: a quarter is exact, so the averages are.
  const std::uint64_t large = encode_exactly(gyreFloat16, 60000);
  same(gyreFloat16, gyreAvg, large, large, "the average of 60000 in float16 is finite");
  same(gyreFloat16, gyreSum, large, infinity16, "its sum is infinite");
  same(gyreInt8, gyreSum, 100, static_cast<std::uint8_t>(400), "int8 wraps");
  same(gyreUint8, gyreSum, 200, static_cast<std::uint8_t>(800), "uint8 wraps");
  const auto rank = static_cast<std::uint64_t>(own_rank());
  // -1, -1, -1, -2: -5 / 4 towards zero.
  const auto minus = static_cast<std::uint32_t>(rank == 3 ? -2 : -1);
  same(gyreInt32, gyreAvg, minus, static_cast<std::uint32_t>(-1), "averages go towards zero");
  same(gyreInt64, gyreSum, (std::uint64_t{1} << 53) + rank, (std::uint64_t{1} << 55) + 6,
       "int64 is not summed in float64");
  // -0 is less than +0, whichever rank has it.
  const std::uint64_t zero = rank == 2 ? 0x80000000 : 0;
  same(gyreFloat32, gyreMin, zero, 0x80000000, "the least zero");
  same(gyreFloat32, gyreMax, rank == 2 ? 0 : 0x80000000, 0, "the greatest zero");
  return checks.exit_code();
}

TEST(SpecialValues, EdgesOfTheTypes) {
  Job job = Job::start({.role = "edges", .ranks = 4, .environment = {"GYRE_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  using namespace gyre::test;
  return run(argc, argv, {{"nan", play_nan}, {"edges", play_edges}});
}

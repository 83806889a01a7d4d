// SPDX-License-Identifier: Apache-2.0
// More elements, and bytes, than 32 bits count: 2^31 + 17 of int8, two ranks, in place, against a
// closed form.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

constexpr std::size_t count = (std::size_t{1} << 31) + 17;

// Without period: an element that comes from 2^31 or 2^32 away is another one.
std::uint8_t element(std::size_t i) {
  return static_cast<std::uint8_t>(i * 0x9e3779b97f4a7c15ULL >> 56);
}

// Rank r contributes element(i) + r; wrapping around.
int play_large(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  // Not a vector, which would write all of it once more.
  const auto data = std::make_unique_for_overwrite<std::uint8_t[]>(count);
  const auto own = static_cast<std::uint8_t>(own_rank());
  for (std::size_t i = 0; i < count; ++i) {
    data[i] = static_cast<std::uint8_t>(element(i) + own);
  }
  checks.succeeded(
      gyreAllReduce(data.get(), data.get(), count, gyreInt8, gyreSum, comm.get(), nullptr),
      "gyreAllReduce");
  std::size_t wrong = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (data[i] != static_cast<std::uint8_t>(2 * element(i) + 1)) {
      ++wrong;
      last = i;
    }
  }
  checks.that(wrong == 0, "every element is right",
              std::to_string(wrong) + " are not, the last one is " + std::to_string(last));
  return checks.exit_code();
}

std::size_t available_kib() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) {
      return std::stoull(line.substr(line.find(':') + 1));
    }
  }
  return 0;
}

TEST(LargeCount, MoreThan32BitsCount) {
  constexpr std::size_t needed_kib = (2 * count >> 10) + 512 * 1024;
  if (under_sanitizer) {
    GTEST_SKIP() << "a sanitizer multiplies the 4.1 GiB, and the time";
  }
  if (available_kib() < needed_kib) {
    GTEST_SKIP() << "needs " << needed_kib << " KiB of memory, " << available_kib()
                 << " are available";
  }
  Job job = Job::start({.role = "large", .ranks = 2, .limit = std::chrono::seconds(250)});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"large", gyre::test::play_large}});
}

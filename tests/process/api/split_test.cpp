// SPDX-License-Identifier: Apache-2.0
// Communicators made of a part of another one.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <string>
#include <vector>

#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

struct Part {
  gyreComm_t comm = nullptr;
  int rank = -1, ranks = 0;
};

Part split(Checks& checks, gyreComm_t parent, int color, int key) {
  Part part;
  checks.succeeded(gyreCommSplit(parent, color, key, &part.comm, nullptr), "Split");
  if (part.comm != nullptr) {
    gyreCommUserRank(part.comm, &part.rank);
    gyreCommCount(part.comm, &part.ranks);
  }
  return part;
}

int sum_of(Checks& checks, gyreComm_t comm, int value) {
  int sum = -1;
  checks.succeeded(gyreAllReduce(&value, &sum, 1, gyreInt32, gyreSum, comm, nullptr),
                   "AllReduce of a part");
  return sum;
}

int play_parts(std::span<const std::string>) {
  Checks checks;
  const RankComm whole(checks);
  if (!whole) return checks.exit_code();
  const int rank = own_rank();
  const int ranks = world_size();

  // Even and odd ranks, in reverse order.
  const Part half = split(checks, whole.get(), rank % 2, -rank);
  const int members = (ranks + (rank % 2 == 0 ? 1 : 0)) / 2;
  checks.that(half.ranks == members, "the size of a half", std::to_string(half.ranks));
  checks.that(half.rank == members - 1 - rank / 2, "in the order of keys",
              std::to_string(half.rank));
  int sum = 0;
  for (int other = rank % 2; other < ranks; other += 2) sum += other;
  // The two are used in turns, and neither disturbs the other.
  for (int turn = 0; turn < 20; ++turn) {
    checks.that(sum_of(checks, half.comm, rank) == sum, "the sum of a half");
    checks.that(sum_of(checks, whole.get(), 1) == ranks, "the sum of the whole");
  }

  // Rank 0 takes no part; equal keys keep the order of ranks.
  const Part rest = split(checks, whole.get(), rank == 0 ? GYRE_SPLIT_NOCOLOR : 5, 0);
  checks.that((rest.comm == nullptr) == (rank == 0), "NOCOLOR gets NULL");
  if (rest.comm != nullptr) {
    checks.that(rest.rank == rank - 1 && rest.ranks == ranks - 1, "equal keys");
    // A part of a part, of one rank each.
    const Part alone = split(checks, rest.comm, rest.rank, 0);
    checks.that(alone.ranks == 1 && sum_of(checks, alone.comm, 7) == 7, "a part of one");
    checks.succeeded(gyreCommDestroy(alone.comm), "Destroy");
  }

  // In a group, and after the parent of it is in use again.
  Part grouped;
  gyreGroupStart();
  checks.succeeded(gyreCommSplit(whole.get(), 0, ranks - rank, &grouped.comm, nullptr), "Split");
  checks.succeeded(gyreGroupEnd(), "GroupEnd");
  gyreCommUserRank(grouped.comm, &grouped.rank);
  checks.that(grouped.rank == ranks - 1 - rank, "split in a group");

  checks.refused(gyreCommSplit(whole.get(), -7, 0, &grouped.comm, nullptr), gyreInvalidArgument,
                 "a negative color", {"color", "-7"});
  checks.refused(gyreCommSplit(whole.get(), 0, 0, nullptr, nullptr), gyreInvalidArgument,
                 "no place for the result", {"newcomm"});
  for (gyreComm_t comm : {half.comm, rest.comm, grouped.comm}) {
    if (comm != nullptr) checks.succeeded(gyreCommDestroy(comm), "Destroy");
  }
  checks.that(sum_of(checks, whole.get(), 1) == ranks, "the whole outlives its parts");
  return checks.exit_code();
}

// A part fails; the others and the whole do not.
int play_abort(std::span<const std::string>) {
  Checks checks;
  const RankComm whole(checks);
  if (!whole) return checks.exit_code();
  const Part half = split(checks, whole.get(), own_rank() % 2, 0);
  static_cast<void>(sum_of(checks, half.comm, 1));  // all are there
  if (own_rank() == 0) {
    checks.succeeded(gyreCommAbort(half.comm), "Abort");
  } else if (own_rank() == 2) {
    checks.refused(gyreBarrier(half.comm, nullptr), gyreRemoteError, "a call of the failed part",
                   {"rank 0"});
    gyreCommAbort(half.comm);
  } else {
    checks.that(sum_of(checks, half.comm, 1) == half.ranks, "the other part");
    checks.succeeded(gyreCommDestroy(half.comm), "Destroy");
  }
  checks.that(sum_of(checks, whole.get(), 1) == world_size(), "the whole");
  return checks.exit_code();
}

void run_role(const char* role, int ranks) {
  Job job = Job::start({.role = role, .ranks = ranks, .environment = {"GYRE_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

TEST(Split, PartsAreCommunicatorsOfTheirOwn) {
  for (const int ranks : under_sanitizer ? std::vector{3} : std::vector{2, 3, 5}) {
    run_role("parts", ranks);
  }
}

TEST(Split, AFailedPartLeavesTheWhole) {
  run_role("abort", 4);
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv,
                         {{"parts", gyre::test::play_parts}, {"abort", gyre::test::play_abort}});
}

// SPDX-License-Identifier: Apache-2.0
// The check of the benchmarks sees what it must: right results, made here by the definitions of
// gyre.h, are right, and one spoilt element, exchanged sections or no result at all are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "perf/common/barrier_check.h"
#include "perf/common/expectation.h"
#include "perf/common/failure.h"

namespace perf {
namespace {

using Kind = CollectiveKind;
using Elements = std::vector<std::int32_t>;

constexpr std::array moving = {Kind::all_gather, Kind::broadcast, Kind::gather,  Kind::scatter,
                               Kind::alltoall,   Kind::alltoallv, Kind::sendrecv};
constexpr std::array reducing = {Kind::all_reduce, Kind::reduce, Kind::reduce_scatter};

// All ranks of one call, in this process.
class Job {
 public:
  Job(Kind kind, int ranks, int root, std::size_t count)
      : kind_(kind), ranks_(ranks), count_(count), calls_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      const Extent extent = extent_of(kind, rank, ranks, root, count);
      sent_.emplace_back(extent.send);
      received_.emplace_back(extent.receive);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      Call& call = calls_[static_cast<std::size_t>(rank)];
      call.send = reinterpret_cast<std::byte*>(sent(rank).data());
      call.receive = reinterpret_cast<std::byte*>(received(rank).data());
      call.count = count;
      call.type = ElementType::int32;
      call.root = root;
      prepare_buffers(run_of(rank), call);
    }
  }

  [[nodiscard]] Elements& sent(int rank) { return sent_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Elements& received(int rank) { return received_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::size_t wrong(int rank) const {
    return count_wrong(run_of(rank), calls_[static_cast<std::size_t>(rank)]);
  }
  void carry_out() {
    for (int rank = 0; rank < ranks_; ++rank) {
      for (std::size_t i = 0; i < received(rank).size(); ++i) received(rank)[i] = result(rank, i);
    }
  }

 private:
  [[nodiscard]] CheckedRun run_of(int rank) const { return {kind_, rank, ranks_, 7}; }
  [[nodiscard]] int root() const { return calls_[0].root; }

  std::int32_t sum(std::size_t index) {
    std::uint32_t total = 0;  // wraps
    for (int rank = 0; rank < ranks_; ++rank) {
      total += static_cast<std::uint32_t>(sent(rank)[index]);
    }
    return static_cast<std::int32_t>(total);
  }

  std::int32_t result(int rank, std::size_t i) {
    const std::size_t own = static_cast<std::size_t>(rank) * count_;
    switch (kind_) {
      case Kind::all_reduce:
      case Kind::reduce:
        return sum(i);
      case Kind::reduce_scatter:
        return sum(own + i);
      case Kind::all_gather:
      case Kind::gather:
        return sent(static_cast<int>(i / count_))[i % count_];
      case Kind::broadcast:
        return sent(root())[i];
      case Kind::scatter:
        return sent(root())[own + i];
      case Kind::alltoall:
        return sent(static_cast<int>(i / count_))[own + i % count_];
      case Kind::alltoallv:
        return from_section(rank, i);
      default:
        return sent(rank == 0 ? ranks_ - 1 : rank - 1)[i];
    }
  }

  std::int32_t from_section(int rank, std::size_t i) {
    const auto own = static_cast<std::size_t>(rank);
    const Sections mine = alltoallv_sections(rank, ranks_, count_);
    std::size_t from = 0;
    while (i >= mine.receive_offsets[from] + mine.receive_counts[from]) ++from;
    const Sections theirs = alltoallv_sections(static_cast<int>(from), ranks_, count_);
    return sent(static_cast<int>(from))[theirs.send_offsets[own] + i - mine.receive_offsets[from]];
  }

  Kind kind_;
  int ranks_;
  std::size_t count_;
  std::vector<Elements> sent_;
  std::vector<Elements> received_;
  std::vector<Call> calls_;
};

template <class Body>
void for_every_job(Body body) {
  std::vector<Kind> kinds(moving.begin(), moving.end());
  kinds.insert(kinds.end(), reducing.begin(), reducing.end());
  for (const Kind kind : kinds) {
    for (const int ranks : {1, 2, 3, 5}) {
      for (int root = 0; root < (traits_of(kind).has_root ? ranks : 1); ++root) {
        SCOPED_TRACE(std::string(traits_of(kind).name) + ", ranks " + std::to_string(ranks) +
                     ", root " + std::to_string(root));
        Job job(kind, ranks, root, 1337);
        body(job, ranks);
      }
    }
  }
}

TEST(Expectation, RightResultsAreRight) {
  for_every_job([](Job& job, int ranks) {
    job.carry_out();
    for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(job.wrong(rank), 0U) << "rank " << rank;
  });
}

TEST(Expectation, NoResultIsWrongInEveryElement) {
  for_every_job([](Job& job, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(job.wrong(rank), job.received(rank).size()) << "rank " << rank;
    }
  });
}

TEST(Expectation, OneSpoiltElementIsSeen) {
  for_every_job([](Job& job, int ranks) {
    job.carry_out();
    for (int rank = 0; rank < ranks; ++rank) {
      Elements& received = job.received(rank);
      if (received.empty()) continue;
      for (const std::size_t at : {std::size_t{0}, received.size() / 2, received.size() - 1}) {
        received[at] ^= 1;
        EXPECT_EQ(job.wrong(rank), 1U) << "rank " << rank << ", element " << at;
        received[at] ^= 1;
      }
    }
  });
}

TEST(Expectation, ExchangedSectionsAreSeen) {
  for (const Kind kind : {Kind::all_gather, Kind::gather, Kind::alltoall}) {
    Job job(kind, 3, 0, 100);
    job.carry_out();
    Elements& received = job.received(0);
    std::swap_ranges(received.begin(), received.begin() + 100, received.begin() + 100);
    EXPECT_GT(job.wrong(0), 150U) << traits_of(kind).name;
  }
}

TEST(Expectation, SectionsOfAllToAllVFitTogether) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
      for (int rank = 0; rank < ranks; ++rank) {
        const auto own = static_cast<std::size_t>(rank);
        const Sections mine = alltoallv_sections(rank, ranks, count);
        std::size_t total = 0;
        for (int peer = 0; peer < ranks; ++peer) {
          const Sections theirs = alltoallv_sections(peer, ranks, count);
          const auto other = static_cast<std::size_t>(peer);
          EXPECT_EQ(mine.receive_counts[other], theirs.send_counts[own]);
          EXPECT_EQ(mine.send_offsets[other], total);
          total += mine.send_counts[other];
        }
        EXPECT_EQ(total, count * static_cast<std::size_t>(ranks));
      }
    }
  }
}

TEST(Collective, NamesAreReadInAnySpelling) {
  EXPECT_EQ(parse_collective("allgather"), Kind::all_gather);
  EXPECT_EQ(parse_collective("reduce_scatter"), Kind::reduce_scatter);
  EXPECT_EQ(parse_collective("AllToAllV"), Kind::alltoallv);
  EXPECT_THROW(static_cast<void>(parse_collective("allscatter")), Failure);
}

// Two ranks that are threads.
class ThreadLibrary : public Library {
 public:
  struct Shared {
    std::barrier<> meeting{2};
    std::array<double, 2> values{};
  };
  ThreadLibrary(Shared& shared, int rank) : shared_(shared), rank_(rank) {}

  [[nodiscard]] std::string version() const override { return "threads"; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return 2; }
  [[nodiscard]] bool supports(ElementType, Operation) const override { return true; }
  [[nodiscard]] std::vector<RankLine> rank_lines() override { return {}; }
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
    return allocate_plain(bytes);
  }
  void combine(std::span<double> values, Combine how) override {
    shared_.values[static_cast<std::size_t>(rank_)] = values[0];
    shared_.meeting.arrive_and_wait();
    const auto [a, b] = shared_.values;
    values[0] = how == Combine::sum ? a + b : how == Combine::min ? std::min(a, b) : std::max(a, b);
    shared_.meeting.arrive_and_wait();
  }

 private:
  Shared& shared_;
  int rank_;
};

class ThreadBarrier : public Collective {
 public:
  ThreadBarrier(ThreadLibrary::Shared& shared, bool waits)
      : Collective(Kind::barrier), shared_(shared), waits_(waits) {}
  void repeat(const Call&, int times) override {
    for (int i = 0; waits_ && i < times; ++i) shared_.meeting.arrive_and_wait();
  }

 private:
  ThreadLibrary::Shared& shared_;
  bool waits_;
};

// Ranks that left too early when rank 1 came late.
double early_ranks(bool barrier_waits) {
  ThreadLibrary::Shared shared;
  std::array<double, 2> early{};
  const auto rank_main = [&](int rank) {
    ThreadLibrary library(shared, rank);
    ThreadBarrier barrier(shared, barrier_waits);
    early[static_cast<std::size_t>(rank)] = left_too_early(library, barrier, 1);
  };
  std::thread other(rank_main, 1);
  rank_main(0);
  other.join();
  return early[0] + early[1];
}

TEST(BarrierCheck, ABarrierThatWaitsIsRight) {
  EXPECT_EQ(early_ranks(true), 0);
}

// A rank that is kept from its core for long may come as late as the other one: once is enough.
TEST(BarrierCheck, OneThatDoesNotIsSeen) {
  double most = 0;
  for (int attempt = 0; attempt < 50 && most == 0; ++attempt) most = early_ranks(false);
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace perf

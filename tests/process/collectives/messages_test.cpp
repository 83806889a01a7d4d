// SPDX-License-Identifier: Apache-2.0
// Send, Recv, groups and the collectives with a count for each rank, over real processes.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "support/checks.h"
#include "support/job.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

using Values = std::vector<std::int32_t>;
using Counts = std::vector<std::size_t>;

constexpr std::int32_t poison = -1234567;

std::int32_t element(int from, int to, std::size_t number, std::size_t i) {
  return static_cast<std::int32_t>((static_cast<std::size_t>(from) * 7919 +
                                    static_cast<std::size_t>(to) * 104729 + number * 1299709 +
                                    i * 31) %
                                   1000003);
}

Values message(int from, int to, std::size_t number, std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element(from, to, number, i);
  return values;
}

// A rank of a job, with the calls that must not fail.
struct Player {
  Checks& checks;
  gyreComm_t comm;
  int rank, ranks;

  void send(const Values& values, int peer) const {
    checks.succeeded(gyreSend(values.data(), values.size(), gyreInt32, peer, comm, nullptr),
                     "Send");
  }
  void receive(Values& values, int peer) const {
    checks.succeeded(gyreRecv(values.data(), values.size(), gyreInt32, peer, comm, nullptr),
                     "Recv");
  }
  static void start() { gyreGroupStart(); }
  void end() const { checks.succeeded(gyreGroupEnd(), "GroupEnd"); }
  [[nodiscard]] int next() const { return (rank + 1) % ranks; }
  [[nodiscard]] int last() const { return (rank + ranks - 1) % ranks; }
};

// Every rank passes a message on, in whatever order it makes its two calls.
void pass_round(const Player& player, std::size_t count) {
  const Values out = message(player.rank, player.next(), count, count);
  Values in(count + 1, poison);
  Player::start();
  if (player.rank % 2 == 0) player.send(out, player.next());
  Values receiving(count, poison);
  player.receive(receiving, player.last());
  if (player.rank % 2 == 1) player.send(out, player.next());
  player.end();
  player.checks.that(receiving == message(player.last(), player.rank, count, count), "passed round",
                     std::to_string(count));
}

// Several messages to everybody, itself included, of different lengths and in a random order of
// calls: between two ranks they keep theirs.
void send_to_all(const Player& player, unsigned seed) {
  struct Call {
    int peer;
    bool receives;
    std::size_t number;
  };
  constexpr std::size_t numbers = 3;
  const auto count_of = [&](int from, int to, std::size_t number) {
    std::mt19937 random(seed + static_cast<unsigned>(from * 1000 + to * 10) +
                        static_cast<unsigned>(number));
    const std::size_t most[] = {3, 5'000, 70'000};
    return static_cast<std::size_t>(random()) % most[random() % 3];
  };
  std::vector<std::pair<int, bool>> order;
  for (int peer = 0; peer < player.ranks; ++peer) {
    for (std::size_t i = 0; i < numbers; ++i) {
      order.emplace_back(peer, false);
      order.emplace_back(peer, true);
    }
  }
  std::mt19937 random(seed + static_cast<unsigned>(player.rank));
  std::shuffle(order.begin(), order.end(), random);
  std::vector<Values> sent;
  std::vector<Values> received(order.size());
  sent.reserve(order.size());
  std::vector<Call> calls;
  Counts sends(static_cast<std::size_t>(player.ranks)), receives(sends);
  Player::start();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [peer, is_receive] = order[i];
    auto& counter = (is_receive ? receives : sends)[static_cast<std::size_t>(peer)];
    const std::size_t number = counter++;
    calls.push_back({peer, is_receive, number});
    if (is_receive) {
      received[i].assign(count_of(peer, player.rank, number), poison);
      player.receive(received[i], peer);
    } else {
      sent.push_back(message(player.rank, peer, number, count_of(player.rank, peer, number)));
      player.send(sent.back(), peer);
    }
  }
  player.end();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    if (!call.receives) continue;
    player.checks.that(
        received[i] == message(call.peer, player.rank, call.number,
                               count_of(call.peer, player.rank, call.number)),
        "message " + std::to_string(call.number) + " from " + std::to_string(call.peer));
  }
}

// Without a group: one sends first, the other receives first.
void play_ping_pong(const Player& player, std::size_t count) {
  if (player.rank > 1) return;
  const int peer = 1 - player.rank;
  for (std::size_t turn = 0; turn < 3; ++turn) {
    Values in(count, poison);
    const Values out = message(player.rank, peer, turn, count);
    if (player.rank == 0) {
      player.send(out, peer);
      player.receive(in, peer);
    } else {
      player.receive(in, peer);
      player.send(out, peer);
    }
    player.checks.that(in == message(peer, player.rank, turn, count), "ping-pong",
                       std::to_string(count));
  }
}

// Collectives and messages in one group, in another order on each rank.
void mix(const Player& player) {
  const Values out = message(player.rank, player.next(), 7, 1000);
  Values in(1000, poison);
  std::int32_t one = 1;
  std::int32_t sum = poison;
  Values all(static_cast<std::size_t>(player.ranks), poison);
  const auto collectives = [&] {
    player.checks.succeeded(gyreAllReduce(&one, &sum, 1, gyreInt32, gyreSum, player.comm, nullptr),
                            "AllReduce");
    player.checks.succeeded(
        gyreAllGather(&player.rank, all.data(), 1, gyreInt32, player.comm, nullptr), "AllGather");
  };
  Player::start();
  if (player.rank % 2 == 0) collectives();
  Player::start();
  player.receive(in, player.last());
  player.end();
  player.checks.that(in[0] == poison, "an inner End launches nothing");
  player.send(out, player.next());
  if (player.rank % 2 == 1) collectives();
  player.end();
  player.checks.that(sum == player.ranks, "AllReduce in a group");
  Values ranks(all.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  player.checks.that(all == ranks, "AllGather in a group");
  player.checks.that(in == message(player.last(), player.rank, 7, 1000), "a message beside them");
}

struct Sections {
  Counts counts, displacements;
  std::size_t all = 0;
};

// With gaps between the sections when `gap` is not 0.
template <typename CountOf>
Sections sections(int ranks, std::size_t gap, CountOf count_of) {
  Sections made;
  for (int rank = 0; rank < ranks; ++rank) {
    made.displacements.push_back(made.all + gap);
    made.counts.push_back(count_of(rank));
    made.all += gap + made.counts.back();
  }
  made.all += gap;
  return made;
}

void all_to_all_v(const Player& player, std::size_t most) {
  const auto count_of = [&](int from, int to) {
    return static_cast<std::size_t>(from * 31 + to * 17) % 5 * most / 4;
  };
  const Sections from =
      sections(player.ranks, 3, [&](int to) { return count_of(player.rank, to); });
  const Sections to =
      sections(player.ranks, 2, [&](int source) { return count_of(source, player.rank); });
  Values send(from.all, poison);
  Values wanted(to.all, poison);
  for (int peer = 0; peer < player.ranks; ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    std::ranges::copy(message(player.rank, peer, 1, from.counts[at]),
                      send.begin() + static_cast<std::ptrdiff_t>(from.displacements[at]));
    std::ranges::copy(message(peer, player.rank, 1, to.counts[at]),
                      wanted.begin() + static_cast<std::ptrdiff_t>(to.displacements[at]));
  }
  Values receive(to.all, poison);
  player.checks.succeeded(
      gyreAllToAllV(send.data(), from.counts.data(), from.displacements.data(), receive.data(),
                    to.counts.data(), to.displacements.data(), gyreInt32, player.comm, nullptr),
      "AllToAllV");
  player.checks.that(receive == wanted, "AllToAllV", std::to_string(most));
}

void all_gather_v(const Player& player, std::size_t most, bool in_place) {
  const Sections to = sections(player.ranks, 1, [&](int rank) {
    return static_cast<std::size_t>(rank) * 13 % 4 * most / 3;
  });
  const auto own = static_cast<std::size_t>(player.rank);
  Values wanted(to.all, poison);
  for (int source = 0; source < player.ranks; ++source) {
    const auto at = static_cast<std::size_t>(source);
    std::ranges::copy(message(source, 0, 2, to.counts[at]),
                      wanted.begin() + static_cast<std::ptrdiff_t>(to.displacements[at]));
  }
  Values receive(to.all, poison);
  const Values mine = message(player.rank, 0, 2, to.counts[own]);
  std::int32_t* const kept = receive.data() + to.displacements[own];
  if (in_place) std::ranges::copy(mine, kept);
  player.checks.succeeded(
      gyreAllGatherV(in_place ? kept : mine.data(), mine.size(), receive.data(), to.counts.data(),
                     to.displacements.data(), gyreInt32, player.comm, nullptr),
      "AllGatherV");
  player.checks.that(receive == wanted, in_place ? "AllGatherV in place" : "AllGatherV",
                     std::to_string(most));
}

void reduce_scatter_v(const Player& player, std::size_t most, bool in_place) {
  const Sections from = sections(player.ranks, 0, [&](int rank) {
    return static_cast<std::size_t>(rank + 1) * 11 % 4 * most / 3;
  });
  const auto own = static_cast<std::size_t>(player.rank);
  Values send;
  for (int to = 0; to < player.ranks; ++to) {
    std::ranges::copy(message(player.rank, to, 3, from.counts[static_cast<std::size_t>(to)]),
                      std::back_inserter(send));
  }
  Values wanted(from.counts[own]);
  for (int source = 0; source < player.ranks; ++source) {
    const Values theirs = message(source, player.rank, 3, wanted.size());
    std::ranges::transform(wanted, theirs, wanted.begin(), std::plus());
  }
  Values apart(wanted.size(), poison);
  std::int32_t* const receive = in_place ? send.data() + from.displacements[own] : apart.data();
  player.checks.succeeded(gyreReduceScatterV(send.data(), receive, from.counts.data(), gyreInt32,
                                             gyreSum, player.comm, nullptr),
                          "ReduceScatterV");
  player.checks.that(std::equal(wanted.begin(), wanted.end(), receive),
                     in_place ? "ReduceScatterV in place" : "ReduceScatterV", std::to_string(most));
}

// The same on a stream, several times without waiting; the arrays of counts are gone meanwhile.
void use_stream(const Player& player) {
  gyreStream_t stream = nullptr;
  player.checks.succeeded(gyreStreamCreate(&stream), "StreamCreate");
  const Values out = message(player.rank, player.next(), 9, 5000);
  std::vector<Values> in(4, Values(5000, poison));
  for (Values& each : in) {
    Player::start();
    gyreSend(out.data(), out.size(), gyreInt32, player.next(), player.comm, stream);
    gyreRecv(each.data(), each.size(), gyreInt32, player.last(), player.comm, stream);
    player.end();
  }
  Values gathered(static_cast<std::size_t>(player.ranks), poison);
  {
    const Counts counts(gathered.size(), 1);
    Counts displacements(gathered.size());
    std::iota(displacements.begin(), displacements.end(), std::size_t{0});
    player.checks.succeeded(gyreAllGatherV(&player.rank, 1, gathered.data(), counts.data(),
                                           displacements.data(), gyreInt32, player.comm, stream),
                            "AllGatherV on a stream");
  }
  player.checks.succeeded(gyreStreamSynchronize(stream), "StreamSynchronize");
  for (const Values& each : in) {
    player.checks.that(each == message(player.last(), player.rank, 9, 5000), "on a stream");
  }
  player.checks.that(gathered.back() == player.ranks - 1, "AllGatherV on a stream");
  gyreStreamDestroy(stream);
}

// Argument: the most elements of a message.
int play_all(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) return checks.exit_code();
  const Player player{checks, comm.get(), own_rank(), world_size()};
  const std::size_t most_elements = std::stoull(arguments[0]);
  for (const std::size_t count : {0, 1, 2, 1000, 4096, 40'000, 131'072, 131'073, 1'500'000}) {
    if (count > most_elements) break;
    pass_round(player, count);
    if (player.ranks > 1) play_ping_pong(player, count);
  }
  for (unsigned seed = 0; seed < 6; ++seed) send_to_all(player, seed * 100'000);
  mix(player);
  for (const std::size_t most : {1, 8, 1000, 50'000, 300'000}) {
    if (most > most_elements) break;
    all_to_all_v(player, most);
    for (const bool in_place : {false, true}) {
      all_gather_v(player, most, in_place);
      reduce_scatter_v(player, most, in_place);
    }
  }
  use_stream(player);
  return checks.exit_code();
}

class Messages : public testing::TestWithParam<int> {};

TEST_P(Messages, ArriveWhole) {
  // Tiny chunks wrap every FIFO many times.
  for (const auto& [chunk, most] :
       {std::pair("GYRE_CHUNK=0", "2000000"), std::pair("GYRE_CHUNK=512", "5000")}) {
    Job job = Job::start({.role = "all",
                          .ranks = GetParam(),
                          .arguments = {most},
                          .environment = {"GYRE_TIMEOUT=30", chunk},
                          .limit = std::chrono::seconds(120)});
    for (const RankOutcome& rank : job.wait()) {
      EXPECT_TRUE(rank.succeeded()) << rank;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, Messages,
                         testing::ValuesIn(under_sanitizer ? std::vector{3}
                                                           : std::vector{1, 2, 3, 4, 7}));

// One process plays several ranks from one thread: what two of them do in a group must not wait for
// each other.
TEST(Groups, OneThreadPlaysManyRanks) {
  constexpr std::size_t ranks = 3;
  gyreUniqueId id;
  ASSERT_EQ(gyreGetUniqueId(&id), gyreSuccess);
  gyreComm_t comms[ranks] = {};
  gyreGroupStart();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(gyreCommInitRank(&comms[rank], ranks, id, static_cast<int>(rank)), gyreSuccess);
    EXPECT_EQ(comms[rank], nullptr) << "only End makes it";
  }
  ASSERT_EQ(gyreGroupEnd(), gyreSuccess) << gyreGetLastError(nullptr);
  std::vector<Values> in(ranks), out(ranks), around(ranks, Values(50'000, poison));
  gyreGroupStart();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    in[rank] = message(static_cast<int>(rank), 0, 0, 100'000);
    out[rank].assign(in[rank].size(), poison);
    gyreAllReduce(in[rank].data(), out[rank].data(), in[rank].size(), gyreInt32, gyreSum,
                  comms[rank], nullptr);
    const int next = static_cast<int>((rank + 1) % ranks);
    const int last = static_cast<int>((rank + ranks - 1) % ranks);
    gyreSend(in[rank].data(), 50'000, gyreInt32, next, comms[rank], nullptr);
    gyreRecv(around[rank].data(), 50'000, gyreInt32, last, comms[rank], nullptr);
  }
  ASSERT_EQ(gyreGroupEnd(), gyreSuccess) << gyreGetLastError(nullptr);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(out[rank], out[0]);
    EXPECT_EQ(out[rank][17], in[0][17] + in[1][17] + in[2][17]);
    const Values& from = in[(rank + ranks - 1) % ranks];
    EXPECT_TRUE(std::equal(around[rank].begin(), around[rank].end(), from.begin()));
  }
  gyreGroupStart();
  for (gyreComm_t comm : comms) gyreBarrier(comm, nullptr);
  EXPECT_EQ(gyreGroupEnd(), gyreSuccess);
  for (gyreComm_t comm : comms) EXPECT_EQ(gyreCommAbort(comm), gyreSuccess);
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"all", gyre::test::play_all}});
}

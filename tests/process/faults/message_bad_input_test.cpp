// SPDX-License-Identifier: Apache-2.0
// Bad input of messages, groups and the collectives with a count for each rank is refused with a text
// that names it, and changes nothing.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/checks.h"
#include "support/job.h"

namespace gyre::test {
namespace {

class Refusals {
 public:
  Refusals(Checks& checks, gyreComm_t comm) : checks_(checks), comm_(comm) {}

  // `result` must be a refusal; the communicator, and groups of this thread, are sound afterwards.
  void refuse(gyreResult_t result, const char* what, std::initializer_list<std::string_view> words,
              gyreResult_t expected = gyreInvalidArgument) {
    checks_.refused(result, expected, what, words);
    const int one = 1;
    int sum = -1;
    gyreGroupStart();
    gyreAllReduce(&one, &sum, 1, gyreInt32, gyreSum, comm_, nullptr);
    checks_.succeeded(gyreGroupEnd(), std::string("a good group after ") + what);
    checks_.that(sum == world_size(), std::string("the right sum after ") + what);
  }
  [[nodiscard]] gyreComm_t comm() const { return comm_; }
  [[nodiscard]] Checks& checks() const { return checks_; }

 private:
  Checks& checks_;
  gyreComm_t comm_;
};

void refuse_messages(Refusals& bad) {
  std::array<float, 8> data{};
  const gyreComm_t comm = bad.comm();
  const std::string beyond = std::to_string(world_size());
  bad.refuse(gyreSend(data.data(), 8, gyreFloat32, world_size(), comm, nullptr), "a far peer",
             {"peer is " + beyond});
  bad.refuse(gyreRecv(data.data(), 8, gyreFloat32, -1, comm, nullptr), "peer -1", {"peer is -1"});
  bad.refuse(gyreSend(nullptr, 8, gyreFloat32, 0, comm, nullptr), "no buffer", {"sendbuff", "8"});
  bad.refuse(gyreRecv(nullptr, 8, gyreFloat32, 0, comm, nullptr), "no buffer", {"recvbuff", "8"});
  bad.refuse(gyreSend(data.data(), SIZE_MAX, gyreFloat32, 0, comm, nullptr), "a huge count",
             {"count is"});
  bad.refuse(gyreSend(data.data(), 8, gyreNumTypes, 0, comm, nullptr), "no type", {"datatype"});
  bad.refuse(gyreSend(data.data(), 8, gyreFloat32, 0, nullptr, nullptr), "no communicator",
             {"comm is"});
  bad.refuse(gyreSend(data.data(), 8, gyreFloat32, own_rank(), comm, nullptr), "to itself",
             {"itself", "group"}, gyreInvalidUsage);
  bad.refuse(gyreRecv(data.data(), 8, gyreFloat32, own_rank(), comm, nullptr), "from itself",
             {"itself", "group"}, gyreInvalidUsage);
}

void refuse_groups(Refusals& bad) {
  std::array<float, 8> data{};
  std::array<float, 8> other{};
  const gyreComm_t comm = bad.comm();
  bad.refuse(gyreGroupEnd(), "End without Start", {"gyreGroupStart"}, gyreInvalidUsage);

  gyreGroupStart();  // one call of the group is bad: none is made
  data[0] = 5;
  bad.checks().succeeded(gyreSend(data.data(), 8, gyreFloat32, own_rank(), comm, nullptr), "Send");
  bad.checks().succeeded(gyreRecv(other.data(), 8, gyreFloat32, own_rank(), comm, nullptr), "Recv");
  bad.checks().refused(gyreRecv(other.data(), 8, gyreFloat32, 99, comm, nullptr),
                       gyreInvalidArgument, "a bad call in a group", {"peer is 99"});
  bad.refuse(gyreGroupEnd(), "a group with a bad call", {"Nothing of this group", "peer is 99"});
  bad.checks().that(other[0] == 0, "a refused group changes nothing");

  gyreGroupStart();
  gyreSend(data.data(), 8, gyreFloat32, own_rank(), comm, nullptr);
  gyreRecv(other.data(), 7, gyreFloat32, own_rank(), comm, nullptr);
  bad.refuse(gyreGroupEnd(), "another length to itself", {"8 elements", "7 elements"},
             gyreInvalidUsage);
  bad.checks().that(other[0] == 0, "nothing was copied");

  gyreStream_t stream = nullptr;
  bad.checks().succeeded(gyreStreamCreate(&stream), "StreamCreate");
  gyreGroupStart();
  gyreBarrier(comm, nullptr);
  bad.checks().refused(gyreBarrier(comm, stream), gyreInvalidUsage, "two streams", {"stream"});
  bad.refuse(gyreGroupEnd(), "a group on two streams", {"stream"}, gyreInvalidUsage);
  gyreStreamDestroy(stream);
}

void refuse_sections(Refusals& bad) {
  const auto ranks = static_cast<std::size_t>(world_size());
  std::vector<int> send(8 * ranks), receive(8 * ranks);
  std::vector<std::size_t> counts(ranks, 4), at(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) at[rank] = 4 * rank;
  const gyreComm_t comm = bad.comm();
  const auto call = [&](const std::size_t* sent, const std::size_t* from,
                        const std::size_t* received, const std::size_t* to, const int* in,
                        int* out) {
    return gyreAllToAllV(in, sent, from, out, received, to, gyreInt32, comm, nullptr);
  };
  const std::size_t* const n = counts.data();
  const std::size_t* const d = at.data();
  bad.refuse(call(nullptr, d, n, d, send.data(), receive.data()), "no counts", {"sendcounts"});
  bad.refuse(call(n, nullptr, n, d, send.data(), receive.data()), "no places", {"sdispls"});
  bad.refuse(call(n, d, nullptr, d, send.data(), receive.data()), "no counts", {"recvcounts"});
  bad.refuse(call(n, d, n, nullptr, send.data(), receive.data()), "no places", {"rdispls"});
  bad.refuse(call(n, d, n, d, nullptr, receive.data()), "no input", {"sendbuff"});
  bad.refuse(call(n, d, n, d, send.data(), nullptr), "no output", {"recvbuff"});
  bad.refuse(call(n, d, n, d, send.data(), send.data()), "in place", {"overlap"});
  const std::vector<std::size_t> huge(ranks, SIZE_MAX / 2), near(ranks, 1), other(ranks, 5);
  bad.refuse(call(huge.data(), d, n, d, send.data(), receive.data()), "huge", {"sendcounts"});
  bad.refuse(call(n, huge.data(), n, d, send.data(), receive.data()), "far", {"displacement"});
  bad.refuse(call(n, d, n, near.data(), send.data(), receive.data()), "one on the other",
             {"recvbuff overlap"});
  bad.refuse(call(n, d, other.data(), d, send.data(), receive.data()), "another length to itself",
             {"sendcounts[", "is 4", "is 5"});
  bad.refuse(gyreAllGatherV(send.data(), 3, receive.data(), n, d, gyreInt32, comm, nullptr),
             "another length", {"sendcount is 3", "is 4"});
  bad.refuse(gyreAllGatherV(receive.data() + 1, 4, receive.data(), n, d, gyreInt32, comm, nullptr),
             "an overlap", {"overlap"});
  bad.refuse(
      gyreReduceScatterV(send.data(), receive.data(), nullptr, gyreInt32, gyreSum, comm, nullptr),
      "no counts", {"recvcounts"});
  bad.refuse(gyreReduceScatterV(send.data(), send.data() + 1, n, gyreInt32, gyreSum, comm, nullptr),
             "an overlap", {"overlap"});
  bad.refuse(
      gyreReduceScatterV(send.data(), receive.data(), n, gyreFloat32, gyreBand, comm, nullptr),
      "bits of floats", {"float32"});
}

int play(std::span<const std::string>) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) return checks.exit_code();
  Refusals bad(checks, comm.get());
  refuse_messages(bad);
  refuse_groups(bad);
  refuse_sections(bad);
  return checks.exit_code();
}

TEST(MessageBadInput, IsRefusedAndChangesNothing) {
  Job job = Job::start({.role = "refuse", .ranks = 2, .environment = {"GYRE_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"refuse", gyre::test::play}});
}

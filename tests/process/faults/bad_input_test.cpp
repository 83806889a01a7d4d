// SPDX-License-Identifier: Apache-2.0
// Bad input is refused with a text that names argument and value, and changes nothing: after each
// refusal the same communicator must still give a right result.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <array>
#include <cstring>
#include <vector>

#include "process/faults/refusals.h"
#include "support/checks.h"
#include "support/job.h"

namespace gyre::test {
namespace {

void refuse_buffers(Refusals& bad) {
  std::array<float, 8> in{};
  std::array<float, 8> out{};
  bad.refuse(bad.reduce(nullptr, out.data(), 8), "no input", {"sendbuff", "NULL", "8"});
  bad.refuse(bad.reduce(in.data(), nullptr, 8), "no output", {"recvbuff", "NULL", "8"});
  bad.refuse(bad.reduce(in.data(), out.data(), far_too_many), "a huge count",
             {"count", std::to_string(far_too_many)});
  bad.refuse(bad.reduce(in.data(), out.data(), static_cast<std::size_t>(-1), gyreFloat64),
             "count -1", {"count", "negative"});
  bad.refuse(bad.reduce(in.data(), in.data() + 1, 4), "an overlap", {"overlap", "4", "16"});
  bad.refuse(bad.reduce(in.data() + 1, in.data(), 4), "the other overlap", {"overlap"});
  const gyreResult_t stream =
      gyreAllReduce(in.data(), out.data(), 8, gyreFloat32, gyreSum, bad.comm(), &in);
  bad.refuse(stream, "an unknown stream", {"stream is 0x"});
}

void refuse_types(Refusals& bad) {
  std::array<float, 8> in{};
  std::array<float, 8> out{};
  bad.refuse(bad.reduce(in.data(), out.data(), 8, forged<gyreDataType_t>(12)), "type 12",
             {"datatype", "12"});
  bad.refuse(bad.reduce(in.data(), out.data(), 8, forged<gyreDataType_t>(-1)), "type -1",
             {"datatype", "-1"});
  bad.refuse(bad.reduce(in.data(), out.data(), 8, gyreFloat32, forged<gyreRedOp_t>(-5)), "op -5",
             {"op", "-5"});
  bad.refuse(bad.reduce(in.data(), out.data(), 8, gyreFloat32, gyreNumOps), "an op never made",
             {"op is 8"});
  for (const gyreRedOp_t op : {gyreBand, gyreBor, gyreBxor}) {
    bad.refuse(bad.reduce(in.data(), out.data(), 8, gyreFloat32, op), "bits of floats",
               {"op", "float32"});
  }
}

void refuse_operations(Refusals& bad, Checks& checks) {
  std::array<double, 8> in{};
  std::array<double, 8> out{};
  const float scalar = 2;
  gyreRedOp_t op{};
  bad.refuse(gyreRedOpCreatePreMulSum(nullptr, &scalar, gyreFloat32, bad.comm()), "no op",
             {"op is NULL"});
  bad.refuse(gyreRedOpCreatePreMulSum(&op, nullptr, gyreFloat32, bad.comm()), "no scalar",
             {"scalar is NULL"});
  bad.refuse(gyreRedOpCreatePreMulSum(&op, &scalar, forged<gyreDataType_t>(99), bad.comm()),
             "an op of type 99", {"datatype", "99"});
  bad.refuse(gyreRedOpCreateUser(&op, nullptr, 1, nullptr, bad.comm()), "no function",
             {"function is NULL"});
  checks.succeeded(gyreRedOpCreatePreMulSum(&op, &scalar, gyreFloat32, bad.comm()), "premulsum");
  bad.refuse(bad.reduce(in.data(), out.data(), 8, gyreFloat64, op), "another type's op",
             {"float64", "float32"});
  checks.succeeded(gyreRedOpDestroy(op, bad.comm()), "gyreRedOpDestroy");
  bad.refuse(bad.reduce(in.data(), out.data(), 8, gyreFloat32, op), "a destroyed op", {"op is "});
  bad.refuse(gyreRedOpDestroy(op, bad.comm()), "an op destroyed twice", {"op is "});
  bad.refuse(gyreRedOpDestroy(gyreSum, bad.comm()), "destroying a built-in op", {"op is 0"});
}

void refuse_handles(Refusals& bad, Checks& checks) {
  std::array<float, 8> data{};
  int number = 7;
  gyreComm_t gone = nullptr;
  gyreUniqueId id{};
  checks.succeeded(gyreGetUniqueId(&id), "gyreGetUniqueId");
  checks.succeeded(gyreCommInitRank(&gone, 1, id, 0), "a communicator of one");
  checks.succeeded(gyreCommDestroy(gone), "gyreCommDestroy");
  for (const gyreComm_t comm :
       {gyreComm_t{}, forged_handle(1), forged_handle(0xdeadbeef), forged_handle(~std::uintptr_t{}),
        gone, reinterpret_cast<gyreComm_t>(&data)}) {
    bad.refuse(gyreAllReduce(data.data(), data.data(), 8, gyreFloat32, gyreSum, comm, nullptr),
               "a bad handle", {"comm is "});
    bad.refuse(gyreBarrier(comm, nullptr), "a bad handle for a barrier", {"comm is "});
    bad.refuse(gyreCommDestroy(comm), "destroying a bad handle", {"comm is "});
    bad.refuse(gyreCommAbort(comm), "aborting a bad handle", {"comm is "});
    bad.refuse(gyreCommFinalize(comm), "finalizing a bad handle", {"comm is "});
    bad.refuse(gyreCommCount(comm, &number), "counting a bad handle", {"comm is "});
  }
  checks.that(number == 7, "a refused call leaves its result alone");
  bad.refuse(gyreCommCount(bad.comm(), nullptr), "no count", {"count is NULL"});
  bad.refuse(gyreCommUserRank(bad.comm(), nullptr), "no rank", {"rank is NULL"});
  bad.refuse(gyreCommGetAsyncError(bad.comm(), nullptr), "no asyncError", {"asyncError is NULL"});
  bad.refuse(gyreCommGetLastPlan(bad.comm(), nullptr), "no name", {"name is NULL"});
  gyreRankInfo_t info{};
  bad.refuse(gyreCommGetRankInfo(bad.comm(), 0, &info), "an info without a size", {"info->size"});
  info.size = sizeof(info);
  bad.refuse(gyreCommGetRankInfo(bad.comm(), 2, &info), "rank 2 of 2", {"rank is 2"});
  bad.refuse(gyreCommGetRankInfo(bad.comm(), -1, &info), "rank -1", {"rank is -1"});
}

void refuse_memory(Refusals& bad, Checks& checks) {
  std::vector<std::byte> heap(100'000);
  void* memory = nullptr;
  bad.refuse(gyreMemAlloc(nullptr, 8), "no ptr", {"ptr is NULL"});
  bad.refuse(gyreMemAlloc(&memory, 0), "no bytes", {"size is 0"});
  bad.refuse(gyreMemAlloc(&memory, SIZE_MAX - 100), "all bytes", {"size is "});
  checks.that(memory == nullptr, "a refused gyreMemAlloc leaves its result alone");
  bad.refuse(gyreMemFree(heap.data()), "freeing foreign memory", {"gyreMemAlloc"});
  checks.succeeded(gyreMemAlloc(&memory, 8192), "gyreMemAlloc");
  bad.refuse(gyreMemFree(static_cast<std::byte*>(memory) + 64), "freeing the inside", {"0x"});
  checks.succeeded(gyreMemFree(memory), "gyreMemFree");
  bad.refuse(gyreMemFree(memory), "freeing twice", {"0x"});

  gyreRegistration_t registration = nullptr;
  bad.refuse(gyreCommRegister(bad.comm(), nullptr, 8, 0, &registration), "no buff", {"buff"});
  bad.refuse(gyreCommRegister(bad.comm(), heap.data(), 0, 0, &registration), "size 0", {"size"});
  bad.refuse(gyreCommRegister(bad.comm(), heap.data(), 8, 6, &registration), "flags 6",
             {"flags is 0x6"});
  bad.refuse(gyreCommRegister(bad.comm(), heap.data(), SIZE_MAX, 0, &registration), "size -1",
             {"size"});
  checks.succeeded(gyreCommRegister(bad.comm(), heap.data(), heap.size(),
                                    GYRE_REGISTER_SHARE_IN_PLACE, &registration),
                   "gyreCommRegister");
  checks.succeeded(gyreCommDeregister(bad.comm(), registration), "gyreCommDeregister");
  bad.refuse(gyreCommDeregister(bad.comm(), registration), "deregistering twice",
             {"registration is "});
}

void refuse_init(Refusals& bad) {
  gyreComm_t made = nullptr;
  gyreUniqueId id{};
  static_cast<void>(gyreGetUniqueId(&id));
  bad.refuse(gyreGetUniqueId(nullptr), "no id", {"id is NULL"});
  bad.refuse(gyreCommInitRank(nullptr, 1, id, 0), "no comm", {"comm is NULL"});
  bad.refuse(gyreCommInitRank(&made, 0, id, 0), "0 ranks", {"nranks is 0"});
  bad.refuse(gyreCommInitRank(&made, -3, id, 0), "-3 ranks", {"nranks is -3"});
  bad.refuse(gyreCommInitRank(&made, 2, id, 2), "rank 2 of 2", {"rank is 2"});
  bad.refuse(gyreCommInitRank(&made, 2, id, -1), "rank -1", {"rank is -1"});
  bad.refuse(gyreCommInitRank(&made, 2, gyreUniqueId{}, 0), "an id of zeros", {"id"});
  std::memset(id.internal, 'x', sizeof(id.internal));
  bad.refuse(gyreCommInitRank(&made, 2, id, 0), "an id of garbage", {"id"});

  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  config.size = 0;
  bad.refuse(gyreCommInitEnvironment(&made, &config), "a config of size 0", {"config->size is 0"});
  config = GYRE_CONFIG_INITIALIZER;
  config.version = 990'000;
  bad.refuse(gyreCommInitEnvironment(&made, &config), "version 99", {"config->version is 990000"});
  config = GYRE_CONFIG_INITIALIZER;
  config.initTimeoutSeconds = -1;
  bad.refuse(gyreCommInitEnvironment(&made, &config), "a negative timeout",
             {"initTimeoutSeconds is -1"});
  config = GYRE_CONFIG_INITIALIZER;
  config.blocking = 0;
  bad.refuse(gyreCommInitEnvironment(&made, &config), "init that does not block", {"blocking"},
             gyreNotSupported);
}

int play_refusals(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  if (comm) {
    Refusals bad(checks, comm.get());
    refuse_buffers(bad);
    refuse_types(bad);
    refuse_operations(bad, checks);
    refuse_handles(bad, checks);
    refuse_memory(bad, checks);
    refuse_init(bad);
  }
  return checks.exit_code();
}

TEST(BadInput, IsRefusedAndChangesNothing) {
  Job job = Job::start({.role = "refusals", .ranks = 2, .environment = {"GYRE_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

// Joins a new id as `rank` of `ranks`, which cannot work out, and says why.
int join_in_vain(int ranks, int rank, const char* what,
                 std::initializer_list<std::string_view> words) {
  Checks checks;
  const RankComm comm(checks);
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  config.initTimeoutSeconds = 5;
  const gyreUniqueId id = share_new_id(checks, comm.get());
  gyreComm_t made = nullptr;
  checks.refused(gyreCommInitRankConfig(&made, ranks, id, rank, &config), gyreInvalidArgument, what,
                 words);
  return checks.exit_code();
}

int play_twice(std::span<const std::string> /*arguments*/) {
  return join_in_vain(2, 0, "rank 0 twice", {"ank 0"});
}

int play_sizes(std::span<const std::string> /*arguments*/) {
  return join_in_vain(2 + own_rank(), own_rank(), "2 or 3 ranks", {"2", "3"});
}

TEST(BadInput, ARankThatComesTwice) {
  Job job = Job::start({.role = "twice", .ranks = 2});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

TEST(BadInput, RanksThatDisagreeAboutTheirNumber) {
  Job job = Job::start({.role = "sizes", .ranks = 2});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

// An id makes one communicator: a second one from it is refused, and the first goes on.
int play_id_again(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  config.initTimeoutSeconds = 5;
  const gyreUniqueId id = share_new_id(checks, comm.get());
  gyreComm_t first = nullptr;
  gyreComm_t second = nullptr;
  checks.succeeded(gyreCommInitRank(&first, 2, id, own_rank()), "the first init");
  checks.succeeded(gyreBarrier(first, nullptr), "a barrier");
  const gyreResult_t result = gyreCommInitRankConfig(&second, 2, id, own_rank(), &config);
  checks.refused(result, gyreInvalidArgument, "an id used again", {"used already"});
  checks.succeeded(gyreBarrier(first, nullptr), "a barrier on the first");
  checks.succeeded(gyreCommDestroy(first), "gyreCommDestroy");
  return checks.exit_code();
}

TEST(BadInput, AnIdThatIsUsedAgain) {
  Job job = Job::start({.role = "id_again", .ranks = 2});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  using namespace gyre::test;
  return run(argc, argv,
             {{"refusals", play_refusals},
              {"twice", play_twice},
              {"sizes", play_sizes},
              {"id_again", play_id_again}});
}

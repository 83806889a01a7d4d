// SPDX-License-Identifier: Apache-2.0
// Bad arguments of the collectives with a root or with sections: each is refused with a text that
// names argument and value, on the rank that makes it, and changes nothing.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <array>
#include <string>
#include <vector>

#include "process/faults/refusals.h"
#include "support/checks.h"
#include "support/job.h"

namespace gyre::test {
namespace {

struct Arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 8;
  gyreDataType_t type = gyreFloat32;
  gyreRedOp_t op = gyreSum;
  int root = 0;
  gyreComm_t comm = nullptr;
};

// The calls as this rank, rank 0, makes them: as root of those that have one.
struct Form {
  const char* name;
  const char* count_name;
  bool reduces, rooted;
  bool send_sections, receive_sections;  // one for each rank, instead of one
  gyreResult_t (*call)(const Arguments&);
};

constexpr std::array<Form, 7> forms = {{
    {"Reduce", "count", true, true, false, false,
     [](const Arguments& a) {
       return gyreReduce(a.send, a.receive, a.count, a.type, a.op, a.root, a.comm, nullptr);
     }},
    {"ReduceScatter", "recvcount", true, false, true, false,
     [](const Arguments& a) {
       return gyreReduceScatter(a.send, a.receive, a.count, a.type, a.op, a.comm, nullptr);
     }},
    {"AllGather", "sendcount", false, false, false, true,
     [](const Arguments& a) {
       return gyreAllGather(a.send, a.receive, a.count, a.type, a.comm, nullptr);
     }},
    {"Broadcast", "count", false, true, false, false,
     [](const Arguments& a) {
       return gyreBroadcast(a.send, a.receive, a.count, a.type, a.root, a.comm, nullptr);
     }},
    {"Gather", "sendcount", false, true, false, true,
     [](const Arguments& a) {
       return gyreGather(a.send, a.receive, a.count, a.type, a.root, a.comm, nullptr);
     }},
    {"Scatter", "recvcount", false, true, true, false,
     [](const Arguments& a) {
       return gyreScatter(a.send, a.receive, a.count, a.type, a.root, a.comm, nullptr);
     }},
    {"AllToAll", "count", false, false, true, true,
     [](const Arguments& a) {
       return gyreAllToAll(a.send, a.receive, a.count, a.type, a.comm, nullptr);
     }},
}};

// All ranks make the bad calls alike, each as root of the rooted ones.
class BadCalls {
 public:
  BadCalls(Checks& checks, gyreComm_t comm, const Form& form)
      : checks_(checks),
        refusals_(checks, comm),
        form_(form),
        sections_(static_cast<std::size_t>(world_size())),
        memory_(64 * sections_) {
    good_ = {.send = memory_.data(),
             .receive = memory_.data() + 32 * sections_,
             .root = own_rank(),
             .comm = comm};
  }

  void buffers() {
    refuse([](Arguments& a) { a.send = nullptr; }, "no input", {"sendbuff", "NULL", "8"});
    refuse([](Arguments& a) { a.receive = nullptr; }, "no output", {"recvbuff", "NULL", "8"});
    const float* const middle = memory_.data() + 16 * sections_;
    // One element into the other buffer, and the other way round: never a form in place.
    refuse([&](Arguments& a) { a.send = middle, a.receive = const_cast<float*>(middle) + 1; },
           "an overlap", {"sendbuff", "recvbuff", "overlap", "In place"});
    refuse([&](Arguments& a) { a.send = middle + 1, a.receive = const_cast<float*>(middle); },
           "the other overlap", {"overlap", "In place"});
  }
  void counts() {
    refuse([](Arguments& a) { a.count = far_too_many; }, "a huge count",
           {form_.count_name, std::to_string(far_too_many)});
    refuse([](Arguments& a) { a.count = static_cast<std::size_t>(-1); }, "count -1",
           {form_.count_name, "negative"});
    if (form_.send_sections || form_.receive_sections) {
      // A section would be addressable, all of them are not.
      refuse([](Arguments& a) { a.count = SIZE_MAX / 2 / sizeof(float); }, "huge sections",
             {form_.count_name});
    }
  }
  void types() {
    refuse([](Arguments& a) { a.type = forged<gyreDataType_t>(12); }, "type 12",
           {"datatype", "12"});
    refuse([](Arguments& a) { a.type = forged<gyreDataType_t>(-1); }, "type -1",
           {"datatype", "-1"});
  }
  void operations() {
    if (!form_.reduces) return;
    refuse([](Arguments& a) { a.op = forged<gyreRedOp_t>(-5); }, "op -5", {"op", "-5"});
    refuse([](Arguments& a) { a.op = gyreNumOps; }, "an op never made", {"op is 8"});
    refuse([](Arguments& a) { a.op = gyreBxor; }, "bits of floats", {"bxor", "float32"});
    const double scalar = 2;
    gyreRedOp_t of_doubles{};
    checks_.succeeded(gyreRedOpCreatePreMulSum(&of_doubles, &scalar, gyreFloat64, good_.comm),
                      "premulsum");
    refuse([&](Arguments& a) { a.op = of_doubles; }, "another type's op", {"float64", "float32"});
    checks_.succeeded(gyreRedOpDestroy(of_doubles, good_.comm), "gyreRedOpDestroy");
    refuse([&](Arguments& a) { a.op = of_doubles; }, "a destroyed op", {"op is "});
  }
  void roots() {
    if (!form_.rooted) return;
    refuse([](Arguments& a) { a.root = -1; }, "root -1", {"root is -1"});
    refuse([](Arguments& a) { a.root = world_size(); }, "a root too far",
           {"root is " + std::to_string(world_size())});
    refuse([](Arguments& a) { a.root = 0x7fffffff; }, "the largest root", {"root is 2147483647"});
  }
  void handles(gyreComm_t destroyed) {
    for (const gyreComm_t comm : {gyreComm_t{}, forged_handle(1), forged_handle(~std::uintptr_t{}),
                                  destroyed, reinterpret_cast<gyreComm_t>(memory_.data())}) {
      refuse([&](Arguments& a) { a.comm = comm; }, "a bad handle", {"comm is "});
    }
  }
  // What may be NULL, and what is nothing, is no error.
  void nothing() {
    Arguments none = good_;
    none.count = 0;
    none.root = 0;
    none.send = nullptr;
    none.receive = nullptr;
    checks_.succeeded(form_.call(none), std::string(form_.name) + " of nothing");
  }

 private:
  template <typename Spoil>
  void refuse(const Spoil& spoil, const char* what, std::vector<std::string> words) {
    Arguments bad = good_;
    spoil(bad);
    const gyreResult_t result = form_.call(bad);
    const std::string text = result == gyreSuccess ? "" : gyreGetLastError(nullptr);
    const std::string name = std::string(form_.name) + " with " + what;
    for (const std::string& word : words) {
      checks_.that(text.find(word) != std::string::npos, "\"" + word + "\" in the text of " + name,
                   text);
    }
    refusals_.refuse(result, name, {});
  }

  Checks& checks_;
  Refusals refusals_;
  const Form& form_;
  std::size_t sections_;
  std::vector<float> memory_;
  Arguments good_;
};

int play_bad_calls(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  gyreComm_t destroyed = nullptr;
  gyreUniqueId id{};
  checks.succeeded(gyreGetUniqueId(&id), "gyreGetUniqueId");
  checks.succeeded(gyreCommInitRank(&destroyed, 1, id, 0), "a communicator of one");
  checks.succeeded(gyreCommDestroy(destroyed), "gyreCommDestroy");
  for (const Form& form : forms) {
    BadCalls bad(checks, comm.get(), form);
    bad.buffers();
    bad.counts();
    bad.types();
    bad.operations();
    bad.roots();
    bad.handles(destroyed);
    bad.nothing();
  }
  return checks.exit_code();
}

TEST(BadCalls, AreRefusedAndChangeNothing) {
  Job job = Job::start({.role = "bad_calls", .ranks = 3, .environment = {"GYRE_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

// The buffer that a rank does not need may be anything, the one that it needs may not.
int play_ignored(std::span<const std::string> /*arguments*/) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  std::array<int, 3> all{};
  int one = own_rank() + 1;
  void* const nowhere = nullptr;
  const bool at_root = own_rank() == 1;
  const auto ok = [&](gyreResult_t result, const char* what) { checks.succeeded(result, what); };
  ok(gyreReduce(&one, at_root ? all.data() : nowhere, 1, gyreInt32, gyreSum, 1, comm.get(),
                nullptr),
     "Reduce without an output elsewhere");
  checks.that(!at_root || all[0] == 6, "its sum");
  ok(gyreGather(&one, at_root ? all.data() : nowhere, 1, gyreInt32, 1, comm.get(), nullptr),
     "Gather without an output elsewhere");
  checks.that(!at_root || all == std::array{1, 2, 3}, "what it gathers");
  ok(gyreScatter(at_root ? all.data() : nowhere, &one, 1, gyreInt32, 1, comm.get(), nullptr),
     "Scatter without an input elsewhere");
  checks.that(one == own_rank() + 1, "what it scatters");
  ok(gyreBroadcast(at_root ? &one : nowhere, all.data(), 1, gyreInt32, 1, comm.get(), nullptr),
     "Broadcast without an input elsewhere");
  checks.that(all[0] == 2, "what it broadcasts");
  return checks.exit_code();
}

TEST(BadCalls, WhatARankDoesNotNeedMayBeNull) {
  Job job = Job::start({.role = "ignored", .ranks = 3, .environment = {"GYRE_TIMEOUT=20"}});
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  using namespace gyre::test;
  return run(argc, argv, {{"bad_calls", play_bad_calls}, {"ignored", play_ignored}});
}

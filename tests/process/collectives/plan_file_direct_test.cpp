// SPDX-License-Identifier: Apache-2.0
// Users' plans for mapped memory, of every collective. Each reaches into other buffers than Gyre's own
// plan for it, so those that it does not reach are ordinary memory here.
#include <gtest/gtest.h>
#include <gyre/gyre.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "process/collectives/arena.h"
#include "support/checks.h"
#include "support/job.h"
#include "support/plan_text.h"
#include "support/temporary_directory.h"

namespace gyre::test {
namespace {

constexpr int ranks = 3;
constexpr int root = 1;

// Tells all others, then waits for all of them; or one side of it.
void signal_all(Program& program, int rank) {
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer != rank) program.push_back(with_peer("signal", peer));
  }
}
void await_all(Program& program, int rank) {
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer != rank) program.push_back(with_peer("await", peer));
  }
}
std::string input_of(int owner, int block, int rank) {
  return owner == rank ? slice("input", block) : slice("peer_input", block, owner);
}
std::string output_of(int owner, int block, int rank) {
  return owner == rank ? slice("output", block) : slice("peer_output", block, owner);
}

// Contributions of all ranks, from the last to the first.
std::vector<std::string> all_inputs(int block, int rank) {
  std::vector<std::string> sources;
  for (int owner = ranks - 1; owner >= 0; --owner) sources.push_back(input_of(owner, block, rank));
  return sources;
}
std::vector<std::string> all_outputs(int block, int rank) {
  std::vector<std::string> destinations;
  for (int owner = 0; owner < ranks; ++owner) destinations.push_back(output_of(owner, block, rank));
  return destinations;
}

// Everybody reads every input. Not in place.
Program all_reduce(int rank) {
  Program program = {combine(all_inputs(0, rank), {slice("output", 0)}, true)};
  signal_all(program, rank);
  await_all(program, rank);
  return program;
}

Program reduce_scatter(int rank) {
  Program program = {combine(all_inputs(rank, rank), {slice("output", rank)}, true)};
  signal_all(program, rank);
  await_all(program, rank);
  return program;
}

// Whoever has a section writes it where it belongs.
Program all_gather(int rank) {
  Program program = {combine({slice("input", rank)}, all_outputs(rank, rank))};
  signal_all(program, rank);
  await_all(program, rank);
  return program;
}

Program all_to_all(int rank) {
  Program program;
  for (int peer = 0; peer < ranks; ++peer) {
    program.push_back(combine({slice("input", peer)}, {output_of(peer, rank, rank)}));
  }
  signal_all(program, rank);
  await_all(program, rank);
  return program;
}

// The root writes every section.
Program scatter(int rank) {
  if (rank != root) return {with_peer("await", root)};
  Program program;
  for (int peer = 0; peer < ranks; ++peer) {
    program.push_back(combine({slice("input", peer)}, {output_of(peer, peer, rank)}));
  }
  signal_all(program, rank);
  return program;
}

// The root reads every section.
Program gather(int rank) {
  if (rank != root) return {with_peer("await", root)};
  Program program;
  for (int peer = 0; peer < ranks; ++peer) {
    program.push_back(combine({input_of(peer, peer, rank)}, {slice("output", peer)}));
  }
  signal_all(program, rank);
  return program;
}

// The root does it all.
Program reduce(int rank) {
  if (rank != root) return {with_peer("await", root)};
  Program program = {combine(all_inputs(0, rank), {slice("output", 0)}, true)};
  signal_all(program, rank);
  return program;
}

// Each rank reads the output of the one before it.
Program broadcast(int rank) {
  const int place = (rank - root + ranks) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  const int next = (rank + 1) % ranks;
  Program program;
  if (place > 0) program.push_back(with_peer("await", previous));
  program.push_back(combine({place == 0 ? slice("input", 0) : slice("peer_output", 0, previous)},
                            {slice("output", 0)}));
  if (place > 0) program.push_back(with_peer("signal", previous));
  if (place + 1 < ranks) {
    program.push_back(with_peer("signal", next));
    program.push_back(with_peer("await", next));
  }
  return program;
}

struct Kind {
  std::string name;
  bool input_sections, output_sections, sectioned, rooted;
  bool reaches_outputs;  // else inputs
  bool in_place_safe;
  std::function<Program(int rank)> program;
};
const std::vector<Kind> kinds = {
    {"AllReduce", false, false, false, false, false, false, all_reduce},
    {"ReduceScatter", true, false, true, false, false, true, reduce_scatter},
    {"AllGather", false, true, true, false, true, true, all_gather},
    {"AllToAll", true, true, true, false, true, false, all_to_all},
    {"Scatter", true, false, true, true, true, true, scatter},
    {"Gather", false, true, true, true, false, true, gather},
    {"Reduce", false, false, false, true, false, true, reduce},
    {"Broadcast", false, false, false, true, true, true, broadcast},
};

std::string text_of(const Kind& kind) {
  std::vector<Program> programs;
  for (int rank = 0; rank < ranks; ++rank) programs.push_back(kind.program(rank));
  return plan("mine",
              heading(kind.name, "direct", ranks, kind.sectioned ? ranks : 1, 1, kind.in_place_safe,
                      kind.rooted ? root : -1),
              programs);
}

using Values = std::int32_t;
constexpr std::size_t most = 40'000;  // elements of a section

// Element i of what `rank` contributes to section `section`.
Values element(int rank, int section, std::size_t i) {
  return static_cast<Values>(rank * 1'000'003 + section * 10'007) + static_cast<Values>(i);
}
Values sum(int section, std::size_t i) {
  Values all = 0;
  for (int rank = 0; rank < ranks; ++rank) all += element(rank, section, i);
  return all;
}

// One call of a collective in buffers of its own.
class Call {
 public:
  Call(Checks& checks, const Kind& kind, gyreComm_t comm, bool mapped, bool in_place,
       std::size_t count)
      : checks_(checks),
        kind_(kind),
        comm_(comm),
        count_(count),
        in_place_(in_place),
        in_(checks, comm, mapped && !kind.reaches_outputs ? Memory::shared : Memory::heap, bytes),
        out_(checks, comm, mapped && kind.reaches_outputs ? Memory::shared : Memory::heap, bytes) {}

  void run(int of_root) {
    of_root_ = of_root;
    prepare();
    checks_.succeeded(call(), kind_.name);
    check();
  }

  void expect_plan(const std::string& wanted) {
    const char* name = "";
    checks_.succeeded(gyreCommGetLastPlan(comm_, &name), "gyreCommGetLastPlan");
    checks_.that(name == wanted, kind_.name + " runs " + wanted, name);
  }

 private:
  static constexpr std::size_t bytes = most * ranks * sizeof(Values);

  // In place both are one buffer, the one that the plan reaches.
  [[nodiscard]] Values* whole_input() const {
    return reinterpret_cast<Values*>(in_place_ && kind_.reaches_outputs ? out_.data() : in_.data());
  }
  [[nodiscard]] Values* whole_output() const {
    return reinterpret_cast<Values*>(in_place_ && !kind_.reaches_outputs ? in_.data()
                                                                         : out_.data());
  }
  // Of a buffer that has one section, in place its part of the whole.
  [[nodiscard]] Values* part(Values* whole, bool sections) const {
    const bool one = in_place_ && kind_.sectioned && !sections;
    return whole + (one ? static_cast<std::size_t>(own_rank()) * count_ : 0);
  }
  [[nodiscard]] Values* input() const { return part(whole_input(), kind_.input_sections); }
  [[nodiscard]] Values* output() const { return part(whole_output(), kind_.output_sections); }

  void prepare() {
    std::fill_n(whole_output(), count_ * (kind_.sectioned ? ranks : 1), -1);
    for (int section = 0; section < (kind_.input_sections ? ranks : 1); ++section) {
      for (std::size_t i = 0; i < count_; ++i) {
        input()[static_cast<std::size_t>(section) * count_ + i] = element(own_rank(), section, i);
      }
    }
  }

  gyreResult_t call() {
    const auto sum_of = gyreSum;
    const std::string& name = kind_.name;
    if (name == "AllReduce") {
      return gyreAllReduce(input(), output(), count_, gyreInt32, sum_of, comm_, nullptr);
    }
    if (name == "ReduceScatter") {
      return gyreReduceScatter(input(), output(), count_, gyreInt32, sum_of, comm_, nullptr);
    }
    if (name == "AllGather") {
      return gyreAllGather(input(), output(), count_, gyreInt32, comm_, nullptr);
    }
    if (name == "AllToAll") {
      return gyreAllToAll(input(), output(), count_, gyreInt32, comm_, nullptr);
    }
    if (name == "Scatter") {
      return gyreScatter(input(), output(), count_, gyreInt32, of_root_, comm_, nullptr);
    }
    if (name == "Gather") {
      return gyreGather(input(), output(), count_, gyreInt32, of_root_, comm_, nullptr);
    }
    if (name == "Reduce") {
      return gyreReduce(input(), output(), count_, gyreInt32, sum_of, of_root_, comm_, nullptr);
    }
    return gyreBroadcast(input(), output(), count_, gyreInt32, of_root_, comm_, nullptr);
  }

  [[nodiscard]] Values wanted(int section, std::size_t i) const {
    const std::string& name = kind_.name;
    if (name == "AllReduce" || name == "Reduce") return sum(0, i);
    if (name == "ReduceScatter") return sum(own_rank(), i);
    if (name == "AllGather" || name == "Gather") return element(section, 0, i);
    if (name == "AllToAll") return element(section, own_rank(), i);
    return element(of_root_, name == "Scatter" ? own_rank() : 0, i);
  }

  void check() {
    const bool only_root = kind_.name == "Reduce" || kind_.name == "Gather";
    if (only_root && own_rank() != of_root_) return;
    std::size_t wrong = 0;
    for (int section = 0; section < (kind_.output_sections ? ranks : 1); ++section) {
      for (std::size_t i = 0; i < count_; ++i) {
        wrong += output()[static_cast<std::size_t>(section) * count_ + i] != wanted(section, i);
      }
    }
    checks_.that(wrong == 0, kind_.name + " is right", std::to_string(wrong) + " elements are not");
  }

  Checks& checks_;
  const Kind& kind_;
  gyreComm_t comm_;
  std::size_t count_;
  bool in_place_;
  int of_root_ = 0;
  Arena in_, out_;
};

const Kind& kind_of(const std::string& name) {
  for (const Kind& kind : kinds) {
    if (kind.name == name) return kind;
  }
  std::abort();
}

// Arguments: the collective.
int play(std::span<const std::string> arguments) {
  Checks checks;
  const Kind& kind = kind_of(arguments[0]);
  const RankComm comm(checks);
  if (!comm) return checks.exit_code();
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{300}, most}) {
    Call mapped(checks, kind, comm.get(), true, false, count);
    mapped.run(root);
    mapped.expect_plan("file:mine/direct");
    if (kind.rooted) {  // the plan is not for this one
      mapped.run(0);
      const char* name = "";
      checks.succeeded(gyreCommGetLastPlan(comm.get(), &name), "gyreCommGetLastPlan");
      checks.that(!std::string(name).starts_with("file:"), "not for another root", name);
    }
    Call in_place(checks, kind, comm.get(), true, true, count);
    in_place.run(root);
    if (kind.in_place_safe) {
      in_place.expect_plan("file:mine/direct");
    } else {
      const char* name = "";
      checks.succeeded(gyreCommGetLastPlan(comm.get(), &name), "gyreCommGetLastPlan");
      checks.that(std::string(name).ends_with("/staged"), "staged in place", name);
    }
    Call staged(checks, kind, comm.get(), false, false, count);
    staged.run(root);
    const char* name = "";
    checks.succeeded(gyreCommGetLastPlan(comm.get(), &name), "gyreCommGetLastPlan");
    checks.that(std::string(name).ends_with("/staged"), "staged where nothing is mapped", name);
  }
  return checks.exit_code();
}

// Arguments: words of the text with which every rank's init must be refused.
int play_refused(std::span<const std::string> arguments) {
  Checks checks;
  gyreComm_t comm = nullptr;
  checks.that(gyreCommInitEnvironment(&comm, nullptr) == gyreInvalidArgument, "init is refused");
  const std::string text = gyreGetLastError(nullptr);
  for (const std::string& word : arguments) {
    checks.that(text.find(word) != std::string::npos, "the text has \"" + word + "\"", text);
  }
  return checks.exit_code();
}

class DirectPlanFile : public testing::TestWithParam<Kind> {
 protected:
  void run_job(const std::string& role, const std::vector<std::string>& arguments,
               const std::string& text) const {
    Job job = Job::start({.role = role,
                          .ranks = ranks,
                          .arguments = arguments,
                          .environment = {"GYRE_TIMEOUT=20",
                                          "GYRE_PLAN_FILE=" + directory_.write("plan.json", text)},
                          .limit = std::chrono::seconds(60)});
    for (const RankOutcome& rank : job.wait()) EXPECT_TRUE(rank.succeeded()) << rank;
  }
  TemporaryDirectory directory_;
};

TEST_P(DirectPlanFile, RunsWhereWhatItReachesIsMapped) {
  run_job("play", {GetParam().name}, text_of(GetParam()));
}

// Without the last step of rank `root`, which in all of these tells or awaits somebody.
TEST_P(DirectPlanFile, IsRefusedWhereNobodyAwaitsItsEnd) {
  Kind spoilt = GetParam();
  spoilt.program = [&](int rank) {
    Program program = GetParam().program(rank);
    if (rank == root) program.pop_back();
    return program;
  };
  run_job("refused", {"GYRE_PLAN_FILE", "plan.json is refused", "is wrong"}, text_of(spoilt));
}

INSTANTIATE_TEST_SUITE_P(Collectives, DirectPlanFile, testing::ValuesIn(kinds),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv,
                         {{"play", gyre::test::play}, {"refused", gyre::test::play_refused}});
}

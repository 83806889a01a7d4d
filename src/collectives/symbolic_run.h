// SPDX-License-Identifier: Apache-2.0
// Runs the programs of all ranks on symbolic values, to a maximal execution: until every rank has
// ended or none can go on. Which rank goes first makes no difference to the outcome
// (docs/plans.md).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "collectives/fifos.h"
#include "collectives/goal.h"
#include "collectives/happens_before.h"
#include "collectives/plan.h"
#include "collectives/values.h"

namespace gyre::plan {

class SymbolicRun {
 public:
  // The plan has passed check_structure.
  SymbolicRun(const Plan& plan, const Goal& goal, int tiles, int slots);

  // Faults of single steps, deadlock, races.
  Status run();
  // After a run: messages and signals that nobody took, accesses that outlast their buffer, values.
  Status check_leftovers() const;
  Status check_ends() const;
  Status check_results() const;
  // After check_results: whether every result is canonical (ValueTable), in every tile.
  [[nodiscard]] bool has_canonical_results() const;
  // Whether Plan::in_place_safe says what the run has shown.
  Status check_in_place() const;

 private:
  struct Position {
    int tile = 0;
    int step = 0;
    int blocked_on = -1;  // the peer that it waits for
  };
  struct Buffer {  // one block of a tile of a rank's input or output
    int owner;
    int block;
    bool output;
  };
  struct Scratch {  // one scratch block of a rank
    ValueId value = undefined_value;
    int block = 0;
    int tile = 0;  // in which it was written
  };
  // Done, or blocked on a peer.
  using Progress = Result<bool>;

  Status advance(int rank);
  Progress perform(int rank, const Step& step);
  Progress combine(int rank, const Step& step);
  Progress wait(int rank, int peer);
  Progress release(int rank, int peer);
  Progress await(int rank, int peer);
  void signal(int rank, int peer);

  bool blocked_on_slots(int rank, const Step& step);
  Result<ValueId> read(int rank, const Slice& slice);
  Result<ValueId> read_scratch(int rank, const Slice& slice) const;
  Result<ValueId> read_slot(int rank, const Slice& slice);
  Status write(int rank, const Slice& slice, ValueId value);
  Result<ValueId> combined(int rank, const Step& step);
  Status complete(int rank, ValueId& value);
  Status record(int rank, const Buffer& buffer, bool writes);
  void note_in_place(int rank, std::string_view what);

  bool block_on(int rank, int peer);
  void wake(int rank, int by);
  Unexpected fail_here(int rank, std::string_view what) const;
  Unexpected deadlock() const;
  [[nodiscard]] std::string last_writer(int owner, int block) const;
  std::string check_result(ValueId value, int tile, const Wanted& wanted, ValueId& agreed) const;
  [[nodiscard]] const Step& step_of(int rank) const;
  [[nodiscard]] std::size_t output_index(int rank, int tile, int block) const;
  [[nodiscard]] std::size_t scratch_index(int rank, const Slice& slice) const;
  [[nodiscard]] bool is_direct() const { return plan_.protocol == Protocol::direct; }

  const Plan& plan_;
  const Goal& goal_;
  const int tiles_;
  ValueTable values_;
  SymbolicFifos fifos_;
  std::vector<ValueId> outputs_;  // see output_index
  std::vector<Scratch> scratch_;  // see scratch_index
  std::vector<Position> positions_;
  std::deque<int> ready_;
  std::vector<ValueId> operands_;  // of the combine at hand; kept for its memory

  // Direct plans only. Two histories of the same accesses: a rank's input and output apart, and as
  // one buffer.
  Clocks clocks_;
  AccessHistory apart_;
  AccessHistory as_one_;
  RemoteAccesses remote_;
  std::string in_place_fault_;  // the first one
};

}  // namespace gyre::plan

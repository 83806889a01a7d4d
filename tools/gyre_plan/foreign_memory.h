// SPDX-License-Identifier: Apache-2.0
// What is where while a foreign plan runs: which contributions each chunk holds, and what Gyre calls
// the place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/layout.h"
#include "gyre_plan/foreign_plan.h"

namespace gyre::tool {

struct ForeignValue {
  int block = 0;           // the number that Gyre knows it by
  std::vector<bool> from;  // whose contributions it holds, by rank
  bool complete = false;
};

class ForeignMemory {
 public:
  explicit ForeignMemory(const ForeignPlan& foreign);

  // The place to read it from, as `reader` names it, and what it holds.
  struct Read {
    plan::Slice slice;
    ForeignValue value;
  };
  [[nodiscard]] Result<Read> read(int reader, const ForeignChunk& chunk);
  [[nodiscard]] Result<plan::Slice> write(int writer, const ForeignChunk& chunk,
                                          const ForeignValue& value);
  [[nodiscard]] bool is_written(int rank, int block) const {
    return outputs_.contains({rank, block});
  }

 private:
  [[nodiscard]] Result<int> block_of(const ForeignChunk& chunk) const;
  // Whether the chunk is of the buffer that is output: in place, input is too.
  [[nodiscard]] bool in_output(const ForeignChunk& chunk) const {
    return chunk.buffer == ForeignBuffer::output || foreign_.in_place;
  }

  const ForeignPlan& foreign_;
  const plan::Layout layout_;
  std::map<std::pair<int, int>, ForeignValue> outputs_;  // by rank and block
};

// "chunk 3 of the input of rank 1"
[[nodiscard]] std::string to_text(const ForeignChunk& chunk);

}  // namespace gyre::tool

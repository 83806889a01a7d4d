// SPDX-License-Identifier: Apache-2.0
// What plans of other libraries have in common, and how it becomes a plan of Gyre.
//
// MSCCL and MSCCL++ give each rank several threads (blocks) that run side by side and depend on each
// other; messages travel over numbered channels. A plan of Gyre has one straight line of steps for each
// rank and one FIFO for each pair. So the threads are run, all ranks together and each one action at a
// time, and the order in which they then happened becomes the program.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "collectives/plan.h"

namespace gyre::tool {

enum class ForeignBuffer : std::uint8_t { input, output, scratch };

struct ForeignChunk {
  ForeignBuffer buffer = ForeignBuffer::input;
  int index = 0;
  int rank = 0;  // whose
};

// The next one between this rank and `peer` over `channel`.
struct ForeignMessage {
  int peer = 0;
  int channel = 0;
};

using ForeignOperand = std::variant<ForeignChunk, ForeignMessage>;

struct ForeignAction {
  enum class Kind : std::uint8_t {
    nothing,  // but waiting for its needs
    move,     // to[*] = from[0] op from[1] op ...
    signal,   // tells `peer`, over `channel`, that what went before is done
    await,
    barrier,  // until `members` threads of the rank are at the barrier `channel`
  };
  struct Need {  // that the step of another thread of the rank, and all before it, are done
    int thread = 0;
    int step = 0;
  };

  Kind kind = Kind::nothing;
  int step = 0;  // as the file counts; several actions may make up one step
  std::vector<ForeignOperand> from, to;
  int peer = -1;
  int channel = 0;
  int members = 0;
  std::vector<Need> needs;
};

struct ForeignRank {
  std::vector<std::vector<ForeignAction>> threads;
};

struct ForeignPlan {
  std::string name;
  plan::Collective collective = plan::Collective::all_reduce;
  plan::Protocol protocol = plan::Protocol::staged;
  int root = 0;           // of collectives that have one
  int chunks = 0;         // of the longer of input and output
  bool in_place = false;  // input and output are one buffer
  std::vector<ForeignRank> ranks;
};

// Refused where Gyre has no equivalent, and where the verifier refuses the outcome.
[[nodiscard]] Result<plan::Plan> to_plan(const ForeignPlan& foreign);

// For readers of such files: "allreduce", "all_gather", "reducescatter", ...
[[nodiscard]] Result<plan::Collective> foreign_collective(std::string_view name);

}  // namespace gyre::tool

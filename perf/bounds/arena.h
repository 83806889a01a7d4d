// SPDX-License-Identifier: Apache-2.0
// What the threads of the ideal share: all user buffers, and the flags of each call.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "perf/bounds/mail.h"
#include "perf/bounds/team.h"

namespace bounds {

inline constexpr std::size_t line_elements = cache_line / sizeof(float);

struct Arena {
  explicit Arena(int ranks) : boxes(static_cast<std::size_t>(ranks)) {}
  std::array<Flag, most_members> entered;
  std::array<Flag, most_members> finished;
  std::array<const float*, most_members> in{};
  std::array<float*, most_members> out{};
  std::vector<Mailbox> boxes;
};

// One member's way into a call, and out of it.
class Doors {
 public:
  Doors(Arena& arena, const Team& team) : arena_(arena), team_(team) {}

  // The others' inputs may be read, and results written, once they have made the call...
  void enter() {
    ++epoch_;
    meet(arena_.entered);
  }
  // ...and the call may return once nobody touches this member's buffers any more.
  void leave() { meet(arena_.finished); }

 private:
  void meet(std::array<Flag, most_members>& flags) const {
    // Release: this member's buffers and stores before its flag.
    flags[static_cast<std::size_t>(team_.rank())].value.store(epoch_, std::memory_order_release);
    for (int other = 0; other < team_.size(); ++other) {
      team_.waiter().until(flags[static_cast<std::size_t>(other)].value, epoch_);
    }
  }

  Arena& arena_;
  const Team& team_;
  std::uint64_t epoch_ = 0;
};

struct Slice {
  std::size_t first;
  std::size_t count;
};

// Member `rank`'s part of `count` elements: whole cache lines, as even as they come.
[[nodiscard]] inline Slice slice_of(std::size_t count, int rank, int ranks) {
  const std::size_t lines = (count + line_elements - 1) / line_elements;
  const auto bound = [&](int r) {
    const std::size_t line = lines * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks);
    const std::size_t element = line * line_elements;
    return element < count ? element : count;
  };
  return {bound(rank), bound(rank + 1) - bound(rank)};
}

}  // namespace bounds

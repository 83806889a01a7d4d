// SPDX-License-Identifier: Apache-2.0
// Small messages: data and flag share each cache line, so that one line transfer brings both.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "perf/bounds/team.h"

namespace bounds {

constexpr std::size_t line_floats = 14;  // 56 bytes beside the 8-byte stamp
constexpr std::size_t most_mail_bytes = 16384;
constexpr std::size_t most_lines = most_mail_bytes / sizeof(float) / line_floats + 1;

struct alignas(cache_line) Line {
  std::array<float, line_floats> data;
  std::atomic<std::uint64_t> stamp;
};

// Written by one member, read by all others. Two sets of lines take turns: who writes set k has
// everybody's mail k - 1, which they sent after they had read set k - 2.
struct Mailbox {
  std::array<std::array<Line, most_lines>, 2> lines;
};

// Stamps `count` elements with `epoch`, in as many lines as they need; at least one.
void write_mail(Line* line, const float* in, std::size_t count, std::uint64_t epoch);
// Both wait for each line. `out` = the mail; `out` = `in` + the mail.
void read_mail(float* out, const Line* line, std::size_t count, std::uint64_t epoch,
               const Waiter& waiter);
void add_mail(float* out, const float* in, const Line* line, std::size_t count, std::uint64_t epoch,
              const Waiter& waiter);

// One member's AllReduce by mail. Nothing is waited for but the mails themselves.
class Mail {
 public:
  Mail(Mailbox* boxes, const Team& team) : boxes_(boxes), team_(team) {}
  void all_reduce(const float* in, float* out, std::size_t count);

 private:
  void receive_all(const float* in, float* out, std::size_t count);
  [[nodiscard]] Line* lines_of(int rank) const { return boxes_[rank].lines[epoch_ % 2].data(); }

  Mailbox* boxes_;  // one a member
  const Team& team_;
  std::uint64_t epoch_ = 0;
};

}  // namespace bounds

// SPDX-License-Identifier: Apache-2.0
// Any collective by mail: every member writes the sections that others need, and reads what it needs.
#pragma once

#include <vector>

#include "perf/bounds/mail.h"
#include "perf/bounds/problem.h"

namespace bounds {

// One member's. A member that sends nothing sends an empty line, and everybody waits for a line of
// everybody: that is what lets two sets of lines take turns (see Mailbox).
class SectionMail {
 public:
  SectionMail(Mailbox* boxes, const Team& team, const Problem& problem);

  [[nodiscard]] static bool fits(const Problem& problem);
  void run(const float* in, float* out);

 private:
  struct Taken {
    std::size_t to_at;
    int from;  // or Move::everyone
    std::size_t from_at;
  };

  void send(const float* in);
  void take(const Taken& taken, const float* in, float* out) const;
  [[nodiscard]] Line* section_of(int rank, std::size_t at) const;

  Mailbox* boxes_;
  const Team& team_;
  std::size_t count_;
  std::size_t section_lines_;
  std::vector<std::size_t> sent_;  // where each section that somebody else needs begins
  std::vector<Taken> taken_;
  std::vector<std::size_t> first_sent_;  // by member: where the first line of its mail stands
  std::uint64_t epoch_ = 0;
};

}  // namespace bounds

// SPDX-License-Identifier: Apache-2.0
// The best of several ways to do one thing, found by trying.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "perf/bounds/team.h"

namespace bounds {

struct Variant {
  std::string name;
  std::function<void()> run;
};

struct Best {
  std::string name;
  Measured measured;
};

// Collective over the team. Each variant gets a short trial; the three fastest are measured by the
// rule, and the fastest of these wins. Every member comes to the same answer.
[[nodiscard]] Best find_best(Team& team, const ClockRule& rule,
                             const std::vector<Variant>& variants,
                             const std::function<void(const Variant&)>& verify);

// User buffers of one member: ordinary memory, page-aligned, touched.
class UserBuffers {
 public:
  UserBuffers(std::size_t count, int rank);
  [[nodiscard]] float* in() const { return in_.get(); }
  [[nodiscard]] float* out() const { return out_.get(); }
  // Throws when `out` is not the sum over `ranks` members' inputs.
  void verify(int ranks, const std::string& what) const;
  void poison();

 private:
  struct Free {
    void operator()(float* memory) const;
  };
  std::size_t count_;
  std::unique_ptr<float, Free> in_;
  std::unique_ptr<float, Free> out_;
};

}  // namespace bounds

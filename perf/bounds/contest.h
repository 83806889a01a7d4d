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

// Element `index` of what `rank` hands in. Small integers: sums are exact in any order.
[[nodiscard]] float input_value(int rank, std::size_t index);

// User buffers of one member: ordinary memory, page-aligned, touched.
class UserBuffers {
 public:
  UserBuffers(std::size_t count, int rank) : UserBuffers(count, count, rank) {}
  UserBuffers(std::size_t in_count, std::size_t out_count, int rank);
  [[nodiscard]] float* in() const { return in_.get(); }
  [[nodiscard]] float* out() const { return out_.get(); }
  // Throws when `out` is not the sum over `ranks` members' inputs.
  void verify(int ranks, const std::string& what) const;
  // Throws when an element of `out` is not what `expected` says of its index.
  void verify(const std::function<float(std::size_t)>& expected, const std::string& what) const;
  void poison();

 private:
  struct Free {
    void operator()(float* memory) const;
  };
  std::size_t count_;  // of out
  std::unique_ptr<float, Free> in_;
  std::unique_ptr<float, Free> out_;
};

}  // namespace bounds

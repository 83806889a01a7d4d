// SPDX-License-Identifier: Apache-2.0
// What ranks contribute, and what must come out: numbers that tell rank, section and element, whose
// sums have a closed form, so that 4096 ranks are checked without adding anything up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/status.h"
#include "collectives/goal.h"
#include "collectives/layout.h"
#include "collectives/plan.h"

namespace gyre::simulation {

class Payload {
 public:
  using Element = std::uint32_t;

  // `count` elements in the buffer, or in each section.
  [[nodiscard]] static Result<Payload> make(const plan::Plan& plan, std::uint64_t count);

  [[nodiscard]] std::uint64_t input_elements() const { return count_ * sections(true); }
  [[nodiscard]] std::uint64_t section_bytes() const { return count_ * sizeof(Element); }
  [[nodiscard]] std::uint64_t output_elements() const { return count_ * sections(false); }

  void fill_input(int rank, std::span<Element> input) const;
  // What is wrong with the output, if anything.
  [[nodiscard]] std::optional<std::string> find_fault(int rank,
                                                      std::span<const Element> output) const;

 private:
  Payload(const plan::Plan& plan, std::uint64_t count, plan::Goal goal)
      : layout_(plan::layout_of(plan.collective)),
        ranks_(plan.ranks),
        count_(count),
        goal_(std::move(goal)) {}

  [[nodiscard]] std::uint64_t sections(bool of_input) const;
  [[nodiscard]] Element value(int rank, int section, std::uint64_t element) const;
  [[nodiscard]] Element sum(const plan::Wanted& wanted, std::uint64_t element) const;
  [[nodiscard]] std::optional<std::string> find_fault_in_section(
      int rank, int section, std::span<const Element> output) const;

  plan::Layout layout_;
  int ranks_;
  std::uint64_t count_;
  plan::Goal goal_;
};

}  // namespace gyre::simulation

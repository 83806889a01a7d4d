// SPDX-License-Identifier: Apache-2.0
#include "simulation/payload.h"

#include <fmt/format.h>

namespace gyre::simulation {

Result<Payload> Payload::make(const plan::Plan& plan, std::uint64_t count) {
  auto goal = plan::goal_of(plan);
  if (!goal) {
    return Unexpected(std::move(goal).error());
  }
  return Payload(plan, count, *std::move(goal));
}

std::uint64_t Payload::sections(bool of_input) const {
  const bool many = of_input ? layout_.input_sections : layout_.output_sections;
  return many ? static_cast<std::uint64_t>(ranks_) : 1;
}

// Integers wrap, so sums are right whatever the number of ranks.
Payload::Element Payload::value(int rank, int section, std::uint64_t element) const {
  const Element of_section = layout_.sectioned ? 1009 * static_cast<Element>(section) : 0;
  return 7 * static_cast<Element>(rank) + of_section + static_cast<Element>(element) % 65'521;
}

Payload::Element Payload::sum(const plan::Wanted& wanted, std::uint64_t element) const {
  if (wanted.count == 1) return value(wanted.first, wanted.block, element);
  // Of all ranks, whichever is first: 0 + 1 + ... + (n - 1) is n(n - 1) / 2.
  const auto n = static_cast<std::uint64_t>(ranks_);
  return static_cast<Element>(n * value(0, wanted.block, element) + 7 * (n * (n - 1) / 2));
}

void Payload::fill_input(int rank, std::span<Element> input) const {
  for (std::uint64_t section = 0; section < sections(true); ++section) {
    const int number = layout_.input_sections ? static_cast<int>(section) : rank;
    for (std::uint64_t i = 0; i < count_; ++i) {
      input[section * count_ + i] = value(rank, number, i);
    }
  }
}

std::optional<std::string> Payload::find_fault(int rank, std::span<const Element> output) const {
  for (std::uint64_t section = 0; section < sections(false); ++section) {
    // A buffer of one section has the one of its rank; block 0 stands for all that are no sections.
    const int only = layout_.sectioned ? rank : 0;
    const int number = layout_.output_sections ? static_cast<int>(section) : only;
    if (auto fault =
            find_fault_in_section(rank, number, output.subspan(section * count_, count_))) {
      return fault;
    }
  }
  return std::nullopt;
}

std::optional<std::string> Payload::find_fault_in_section(int rank, int section,
                                                          std::span<const Element> output) const {
  const auto wanted = goal_.wanted(rank, section);
  if (!wanted) return std::nullopt;
  for (std::uint64_t i = 0; i < output.size(); ++i) {
    if (const Element right = sum(*wanted, i); output[i] != right) {
      return fmt::format("Element {} of section {} in the output of rank {} is {}; it must be {}.",
                         i, section, rank, output[i], right);
    }
  }
  return std::nullopt;
}

}  // namespace gyre::simulation

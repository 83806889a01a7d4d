// SPDX-License-Identifier: Apache-2.0
// AllReduce as a benchmark, whichever library carries it out.
#pragma once

#include "perf/common/inputs.h"
#include "perf/common/library.h"

namespace perf {

class AllReduce : public Collective {
 public:
  [[nodiscard]] std::string_view name() const override { return "all_reduce"; }
  [[nodiscard]] bool has_operation() const override { return true; }
  [[nodiscard]] bool has_root() const override { return false; }
  [[nodiscard]] double bus_factor(int ranks) const override {
    return 2.0 * (ranks - 1) / static_cast<double>(ranks);
  }
  void fill(const Call& call, std::byte* send, int rank, int ranks,
            std::uint32_t iteration) const override {
    fill_input({call.type, call.op, ranks, iteration}, rank, send, call.count);
  }
  [[nodiscard]] std::size_t count_wrong(const Call& call, int /*rank*/, int ranks,
                                        std::uint32_t iteration) const override {
    return count_wrong_results({call.type, call.op, ranks, iteration}, call.receive, call.count);
  }
};

}  // namespace perf

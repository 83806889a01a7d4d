// SPDX-License-Identifier: Apache-2.0
// MPI as the library under test: the same loop, clock, check and table as Gyre's.
#pragma once

#include <mpi.h>

#include "perf/common/library.h"

namespace perf {

class MpiLibrary : public Library {
 public:
  MpiLibrary(int* argc, char*** argv);
  ~MpiLibrary() override;

  [[nodiscard]] std::string version() const override;
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] bool supports(ElementType type, Operation op) const override;
  [[nodiscard]] std::vector<RankLine> rank_lines() override;
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override;
  void combine(std::span<double> values, Combine how) override;

 private:
  int rank_ = 0;
  int size_ = 1;
};

[[nodiscard]] MPI_Datatype mpi_datatype(ElementType type);  // MPI_DATATYPE_NULL: has none
[[nodiscard]] MPI_Op mpi_operation(Operation op);           // MPI_OP_NULL: has none

// Throws Failure with MPI's own text.
void require_mpi(int result, const char* call);

}  // namespace perf

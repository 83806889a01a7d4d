// SPDX-License-Identifier: Apache-2.0
// MPI's counterparts of Gyre's collectives: the hot loops.
#pragma once

#include "perf/mpi/mpi_library.h"

namespace perf {

class MpiCollective : public Collective {
 public:
  MpiCollective(const MpiLibrary& library, CollectiveKind kind)
      : Collective(kind), library_(library) {}

  // In place MPI_Reduce_scatter_block leaves its result at the beginning of the input, NCCL's form
  // in the rank's own section.
  [[nodiscard]] bool has_in_place() const override {
    return Collective::has_in_place() && kind() != CollectiveKind::reduce_scatter;
  }
  void repeat(const Call& call, int times) override;

 private:
  void repeat_reducing(const Call& call, int times) const;
  void repeat_rooted(const Call& call, int times) const;
  void repeat_symmetric(const Call& call, int times) const;
  void repeat_broadcast(const Call& call, int times) const;
  void repeat_alltoallv(const Call& call, int times) const;
  void repeat_sendrecv(const Call& call, int times) const;

  const MpiLibrary& library_;
};

}  // namespace perf

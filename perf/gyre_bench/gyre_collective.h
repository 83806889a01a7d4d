// SPDX-License-Identifier: Apache-2.0
// Gyre's collectives: the hot loops.
#pragma once

#include "perf/gyre_bench/gyre_library.h"

namespace perf {

class GyreCollective : public Collective {
 public:
  GyreCollective(GyreLibrary& library, CollectiveKind kind) : Collective(kind), library_(library) {}
  void repeat(const Call& call, int times) override;

 private:
  void repeat_reducing(const Call& call, int times);
  void repeat_rooted(const Call& call, int times);
  void repeat_symmetric(const Call& call, int times);

  GyreLibrary& library_;
};

}  // namespace perf

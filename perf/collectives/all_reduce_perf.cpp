// SPDX-License-Identifier: Apache-2.0
// all_reduce_perf: Gyre's AllReduce, timed and checked.
#include "perf/common/all_reduce.h"
#include "perf/gyre_bench/gyre_library.h"

namespace perf {
namespace {

class GyreAllReduce : public AllReduce {
 public:
  explicit GyreAllReduce(GyreLibrary& library) : library_(library) {}

  void repeat(const Call& call, int times) override {
    const gyreRedOp_t op = library_.reduction(call.op, call.type);
    const gyreDataType_t type = GyreLibrary::datatype(call.type);
    for (int i = 0; i < times; ++i) {
      library_.require(gyreAllReduce(call.send, call.receive, call.count, type, op,
                                     library_.communicator(), library_.stream()),
                       "gyreAllReduce");
    }
  }

 private:
  GyreLibrary& library_;
};

std::unique_ptr<Collective> make_all_reduce(GyreLibrary& library) {
  return std::make_unique<GyreAllReduce>(library);
}

}  // namespace
}  // namespace perf

int main(int argc, char** argv) {
  return perf::gyre_benchmark_main(
      argc, argv, "Times and checks AllReduce between processes, as nccl-tests does",
      perf::make_all_reduce);
}

// SPDX-License-Identifier: Apache-2.0
// Bytes per second of the CPU kernels beside memcpy of the same size. Counted are the bytes read
// from all sources ("operand bytes"); memcpy counts what it reads.
//
//   kernels_perf --benchmark_filter='float32/sum'
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "memory/kernels.h"

namespace gyre {
namespace {

constexpr std::array<std::size_t, 4> sizes = {4096, 32768, 1 << 20, 16 << 20};
constexpr std::size_t most_buffers = 5;

// Page-aligned memory, written to so that it is there; every buffer at another offset in its page,
// because sources at equal offsets compete for the same cache sets.
class Buffers {
 public:
  explicit Buffers(std::size_t bytes) {
    for (std::size_t b = 0; b < most_buffers; ++b) {
      memory_[b].resize(bytes + 4096);
      std::memset(memory_[b].data(), static_cast<int>(b) + 1, memory_[b].size());
      pointers_[b] = memory_[b].data() + b * 256;
    }
  }
  [[nodiscard]] std::byte* operator[](std::size_t index) { return pointers_[index]; }

 private:
  std::array<std::vector<std::byte>, most_buffers> memory_;
  std::array<std::byte*, most_buffers> pointers_ = {};
};

struct Shape {
  std::size_t sources;
  std::size_t destinations;
  StoreHint hint;
};

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

void run_copy(benchmark::State& state, std::size_t bytes, StoreHint hint) {
  Buffers buffers(bytes);
  for ([[maybe_unused]] auto _ : state) {
    copy_bytes(buffers[0], buffers[1], bytes, hint);
    benchmark::ClobberMemory();
  }
  count_bytes(state, bytes);
}

void run_memcpy(benchmark::State& state, std::size_t bytes) {
  Buffers buffers(bytes);
  for ([[maybe_unused]] auto _ : state) {
    std::memcpy(buffers[0], buffers[1], bytes);
    benchmark::ClobberMemory();
  }
  count_bytes(state, bytes);
}

void run_reduce(benchmark::State& state, DataType type, ReduceOp op, Shape shape,
                std::size_t bytes) {
  Buffers buffers(bytes);
  const std::array<const std::byte*, 3> sources = {buffers[0], buffers[1], buffers[2]};
  const std::array<std::byte*, 2> destinations = {buffers[3], buffers[4]};
  const ReduceKernel kernel = reduce_kernel(type, op);
  for ([[maybe_unused]] auto _ : state) {
    kernel(std::span(destinations).first(shape.destinations),
           std::span(sources).first(shape.sources), bytes / size_of(type), shape.hint);
    benchmark::ClobberMemory();
  }
  count_bytes(state, bytes * shape.sources);
}

void run_scale(benchmark::State& state, DataType type, std::size_t bytes) {
  Buffers buffers(bytes);
  const std::uint64_t scale = 0;
  const ScaleKernel kernel = scale_kernel(type);
  for ([[maybe_unused]] auto _ : state) {
    kernel(buffers[0], buffers[1], &scale, bytes / size_of(type));
    benchmark::ClobberMemory();
  }
  count_bytes(state, bytes);
}

std::string sized(std::string name, std::size_t bytes) {
  return std::move(name) + "/" + std::to_string(bytes);
}

void add_copies(std::size_t bytes) {
  benchmark::RegisterBenchmark(sized("memcpy", bytes).c_str(), run_memcpy, bytes);
  benchmark::RegisterBenchmark(sized("copy", bytes).c_str(), run_copy, bytes, StoreHint::cached);
  benchmark::RegisterBenchmark(sized("copy_streaming", bytes).c_str(), run_copy, bytes,
                               StoreHint::streaming);
}

void add_reductions(DataType type, std::size_t bytes) {
  for (int number = 0; number < reduce_op_count; ++number) {
    const auto op = static_cast<ReduceOp>(number);
    if (reduce_kernel(type, op) == nullptr) {
      continue;
    }
    const std::string name = std::string(name_of(type)) + "/" + std::string(name_of(op));
    benchmark::RegisterBenchmark(sized(name, bytes).c_str(), run_reduce, type, op,
                                 Shape{2, 1, StoreHint::cached}, bytes);
  }
}

// The shapes that matter beside two sources into one destination, for one operation.
void add_shapes(DataType type, std::size_t bytes) {
  const std::string name = std::string(name_of(type)) + "/sum";
  const auto add = [&](const std::string& suffix, Shape shape) {
    benchmark::RegisterBenchmark(sized(name + suffix, bytes).c_str(), run_reduce, type,
                                 ReduceOp::sum, shape, bytes);
  };
  add("_2to2", Shape{2, 2, StoreHint::cached});
  add("_3to1", Shape{3, 1, StoreHint::cached});
  add("_streaming", Shape{2, 1, StoreHint::streaming});
  add("_2to2_streaming", Shape{2, 2, StoreHint::streaming});
}

void add_all() {
  for (const std::size_t bytes : sizes) {
    add_copies(bytes);
    for (int number = 0; number < data_type_count; ++number) {
      const auto type = static_cast<DataType>(number);
      add_reductions(type, bytes);
      add_shapes(type, bytes);
      benchmark::RegisterBenchmark(sized(std::string(name_of(type)) + "/scale", bytes).c_str(),
                                   run_scale, type, bytes);
    }
  }
  for (const std::size_t bytes : {8, 16, 32, 64, 256, 1024}) {  // latency, in the time column
    add_copies(bytes);
    for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16}) {
      add_reductions(type, bytes);
      add_shapes(type, bytes);
    }
  }
}

}  // namespace
}  // namespace gyre

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("kernel target", gyre::kernel_target());
  gyre::add_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

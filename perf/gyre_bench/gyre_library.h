// SPDX-License-Identifier: Apache-2.0
// Gyre, through its public header, as the library under test.
#pragma once

#include <map>

#include "gyre/gyre.h"
#include "perf/common/library.h"
#include "perf/common/options.h"

namespace perf {

class GyreLibrary : public Library {
 public:
  // Joins the communicator that the environment describes.
  explicit GyreLibrary(const Options& options);
  ~GyreLibrary() override;

  [[nodiscard]] std::string version() const override;
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] bool supports(ElementType type, Operation op) const override;
  [[nodiscard]] std::vector<RankLine> rank_lines() override;
  [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override;
  void combine(std::span<double> values, Combine how) override;
  void wait_until_done() override;
  void begin_group() override;
  void end_group() override;
  [[nodiscard]] std::string plan() const override;
  void finish() override;

  [[nodiscard]] gyreComm_t communicator() const { return communicator_; }
  [[nodiscard]] gyreStream_t stream() const { return stream_; }
  [[nodiscard]] static gyreDataType_t datatype(ElementType type);
  // mulsum is created on its first use for a type.
  [[nodiscard]] gyreRedOp_t reduction(Operation op, ElementType type);

  // Throws Failure with Gyre's own text unless `result` is gyreSuccess.
  void require(gyreResult_t result, const char* call) const {
    if (result != gyreSuccess) [[unlikely]]
      fail(result, call);
  }

 private:
  [[noreturn]] void fail(gyreResult_t result, const char* call) const;
  gyreRedOp_t create_mulsum(ElementType type);

  Buffers buffers_;
  gyreComm_t communicator_ = nullptr;
  gyreStream_t stream_ = nullptr;
  int rank_ = 0;
  int size_ = 1;
  std::map<ElementType, gyreRedOp_t> mulsum_;
};

// What the main of each collective's program does: options, ranks, communicator, benchmark.
int gyre_benchmark_main(int argc, char** argv, CollectiveKind kind);

}  // namespace perf

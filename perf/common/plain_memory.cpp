// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "perf/common/failure.h"
#include "perf/common/library.h"

namespace perf {
namespace {

constexpr std::size_t page_bytes = 4096;

class PlainMemory : public Memory {
 public:
  explicit PlainMemory(std::size_t bytes)
      : data_(static_cast<std::byte*>(
            std::aligned_alloc(page_bytes, (bytes / page_bytes + 1) * page_bytes))) {
    if (data_ == nullptr) {
      throw Failure("No memory for a buffer of " + std::to_string(bytes) +
                    " bytes: lower -e, or start fewer ranks.");
    }
  }
  ~PlainMemory() override { std::free(data_); }
  std::byte* data() override { return data_; }

 private:
  std::byte* data_;
};

}  // namespace

std::unique_ptr<Memory> allocate_plain(std::size_t bytes) {
  return std::make_unique<PlainMemory>(bytes);
}

}  // namespace perf

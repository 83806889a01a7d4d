// SPDX-License-Identifier: Apache-2.0
// Buffers and instruction sets for the kernel tests.
#pragma once

#include "memory/simd/targets.h"  // before Highway: it tells which targets were compiled

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "memory/kernel_table.h"

namespace gyre {

inline std::vector<DataType> all_types() {
  std::vector<DataType> types;
  for (int number = 0; number < data_type_count; ++number) {
    types.push_back(static_cast<DataType>(number));
  }
  return types;
}

inline std::vector<ReduceOp> operations_of(DataType type) {
  std::vector<ReduceOp> operations = {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min};
  if (is_integer(type)) {
    operations.insert(operations.end(), {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor});
  }
  return operations;
}

// Every vector target that was compiled and that this processor has.
inline std::vector<KernelTable> vector_kernels() {
  std::vector<KernelTable> tables;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    KernelTable table = make_best_kernels();
    if (table.target != scalar_kernels().target) {
      tables.push_back(table);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return tables;
}

// Memory at a chosen misalignment, between bytes that must not change.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t bytes, std::size_t misalignment)
      : storage_(bytes + 2 * guard + 64, poison), bytes_(bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data()) + guard;
    start_ = guard + (64 - address % 64) % 64 + misalignment;
    storage_.resize(start_ + bytes + guard, poison);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  GuardedBuffer(GuardedBuffer&&) = default;
  GuardedBuffer& operator=(GuardedBuffer&&) = default;
  ~GuardedBuffer() = default;

  [[nodiscard]] std::byte* data() { return storage_.data() + start_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> contents() {
    return std::vector<std::byte>(data(), data() + bytes_);
  }
  [[nodiscard]] bool guards_intact() const {
    const auto is_poison = [](std::byte value) { return value == poison; };
    return std::all_of(storage_.begin(), storage_.begin() + start_, is_poison) &&
           std::all_of(storage_.begin() + start_ + bytes_, storage_.end(), is_poison);
  }

 private:
  static constexpr std::byte poison{0xa5};
  static constexpr std::size_t guard = 128;
  std::vector<std::byte> storage_;
  std::size_t bytes_;
  std::size_t start_ = 0;
};

// Random bits, of which a third are replaced by patterns that are special in some type: zeros,
// subnormals, infinities, NaNs, the largest and the smallest of integers.
inline void fill_random(std::byte* to, std::size_t bytes, DataType type, std::mt19937& random) {
  static constexpr std::uint64_t specials[] = {
      0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000,
      0x7ff8000000000001, 0xfff0000000000001, 0x0000000000000001, 0x8000000000000001,
      0x7f80000000000000, 0xff80000000000000, 0x7fc0000000000000, 0xff80000100000000,
      0x7c00000000000000, 0xfc00000000000000, 0x7e00000000000000, 0xfc01000000000000,
      0x3ff0000000000000, 0x3f80000000000000, 0x3c00000000000000, 0x7fefffffffffffff,
      0x7f7fffff00000000, 0x7bff000000000000, 0x7f7f000000000000, 0xffffffffffffffff,
      0x7fffffffffffffff, 0x0001000000000000, 0x8001000000000000, 0x0000000100000000};
  const std::size_t size = size_of(type);
  for (std::size_t i = 0; i + size <= bytes; i += size) {
    std::uint64_t value = (std::uint64_t{random()} << 32) | random();
    if (random() % 3 == 0) {
      value = specials[random() % std::size(specials)];
    }
    // The upper bytes hold sign and exponent.
    value >>= 64 - 8 * size;
    std::memcpy(to + i, &value, size);
  }
}

}  // namespace gyre

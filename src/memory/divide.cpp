// SPDX-License-Identifier: Apache-2.0
// Division of integers by one divisor, for integer averages.
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "memory/element.h"
#include "memory/kernels.h"

namespace gyre {
namespace {

__extension__ using Uint128 = unsigned __int128;

// floor(x / divisor) by one multiplication, exact for every 32-bit x and divisor >= 2: the
// reciprocal is off by less than 2^-64, which times x < 2^32 cannot reach the next integer, as the
// fraction of a quotient stays 1/divisor > 2^-32 away from it.
class SmallDivider {
 public:
  explicit SmallDivider(std::size_t divisor)
      : reciprocal_(std::numeric_limits<std::uint64_t>::max() / divisor + 1) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    return static_cast<std::uint64_t>((Uint128{reciprocal_} * x) >> 64);
  }

 private:
  std::uint64_t reciprocal_;
};

class ShiftDivider {
 public:
  explicit ShiftDivider(std::size_t divisor) : shift_(std::countr_zero(divisor)) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const { return x >> shift_; }

 private:
  int shift_;
};

class AnyDivider {
 public:
  explicit AnyDivider(std::size_t divisor) : divisor_(divisor) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const { return x / divisor_; }

 private:
  std::uint64_t divisor_;
};

// Towards zero: the magnitude is divided, then gets its sign back. The magnitude of the most
// negative value fits, being unsigned.
template <typename T, typename Divider>
void divide_all(std::byte* values, Divider divide, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const T value = load_element<T>(values, i);
    const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    const bool negative = std::is_signed_v<T> && value < 0;
    const std::uint64_t quotient = divide(negative ? 0 - bits : bits);
    store_element(values, i, static_cast<T>(negative ? 0 - quotient : quotient));
  }
}

template <DataType type>
void divide(std::byte* values, std::size_t divisor, std::size_t count) {
  using T = typename Element<type>::Stored;
  constexpr std::size_t largest_small = std::numeric_limits<std::uint32_t>::max();
  if (std::has_single_bit(divisor)) {
    divide_all<T>(values, ShiftDivider(divisor), count);
  } else if (sizeof(T) <= sizeof(std::uint32_t) && divisor <= largest_small) {
    divide_all<T>(values, SmallDivider(divisor), count);
  } else {
    divide_all<T>(values, AnyDivider(divisor), count);
  }
}

}  // namespace

DivideKernel divide_kernel(DataType type) {
  switch (type) {
    case DataType::int8:
      return divide<DataType::int8>;
    case DataType::uint8:
      return divide<DataType::uint8>;
    case DataType::int32:
      return divide<DataType::int32>;
    case DataType::uint32:
      return divide<DataType::uint32>;
    case DataType::int64:
      return divide<DataType::int64>;
    case DataType::uint64:
      return divide<DataType::uint64>;
    default:
      return nullptr;
  }
}

}  // namespace gyre

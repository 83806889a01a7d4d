// SPDX-License-Identifier: Apache-2.0
// Vector twins of combine() and finish() of memory/element.h. Included by kernels-inl.h alone, once
// for each vector target: hence no guard.

#include <cstdint>
#include <limits>

#include "memory/types.h"

HWY_BEFORE_NAMESPACE();
namespace gyre {
namespace HWY_NAMESPACE {

template <class V>
using Lane = hn::TFromV<V>;
template <class V>
inline constexpr bool is_float_vector = hwy::IsFloat<Lane<V>>();

// There is no product of bytes: the even and the odd ones are multiplied as 16-bit words.
template <class V>
HWY_INLINE V multiply_bytes(V a, V b) {
  const hn::DFromV<V> tag;
  const hn::Repartition<std::uint16_t, hn::DFromV<V>> wide;
  const auto x = hn::BitCast(wide, a);
  const auto y = hn::BitCast(wide, b);
  const auto even = hn::And(hn::Mul(x, y), hn::Set(wide, 0xff));
  const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(x), hn::ShiftRight<8>(y)));
  return hn::BitCast(tag, hn::Or(even, odd));
}

// The product modulo 2^64 from 32-bit halves, where there is no instruction: the product of the low
// halves, plus the two crossed ones moved up (the product of the high halves falls out).
template <class V>
HWY_INLINE V multiply_words64(V a, V b) {
  const hn::DFromV<V> tag;
  const hn::Repartition<std::uint32_t, hn::DFromV<V>> narrow;
  const auto x = hn::BitCast(narrow, a);
  const auto y = hn::BitCast(narrow, b);
  const auto crossed = hn::BitCast(tag, hn::Mul(x, hn::Shuffle2301(y)));
  const auto crossed_sum = hn::Add(crossed, hn::ShiftRight<32>(crossed));
  return hn::Add(hn::MulEven(x, y), hn::ShiftLeft<32>(crossed_sum));
}

template <class V>
HWY_INLINE V multiply(V a, V b) {
  if constexpr (sizeof(Lane<V>) == 1) {
    return multiply_bytes(a, b);
  } else if constexpr (sizeof(Lane<V>) == 8 && !is_float_vector<V> && HWY_TARGET != HWY_AVX3) {
    return multiply_words64(a, b);
  } else {
    return hn::Mul(a, b);
  }
}

// On x86 the minimum is the second operand when one is NaN or both are zeros. The two orders
// together then see both operands, and are equal otherwise: ORed they give NaN if there is one, and
// -0 if there is one. Elsewhere the minimum knows about zeros, but may prefer the number to the
// NaN.
template <class V>
HWY_INLINE V float_minimum(V a, V b) {
  const V number = hn::Or(hn::Min(a, b), hn::Min(b, a));
#if HWY_ARCH_X86
  return number;
#else
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, number));
#endif
}

template <class V>
HWY_INLINE V minimum(V a, V b) {
  if constexpr (is_float_vector<V>) {
    return float_minimum(a, b);
  } else {
    return hn::Min(a, b);
  }
}

// NaN becomes the one canonical NaN, as finish() of memory/element.h.
template <class V>
HWY_INLINE V canonical(V v) {
  if constexpr (is_float_vector<V>) {
    const auto nan = hn::Set(hn::DFromV<V>(), std::numeric_limits<Lane<V>>::quiet_NaN());
    return hn::IfThenElse(hn::IsNaN(v), nan, v);
  } else {
    return v;
  }
}

// prepare: applied to each source; finish: to the result.
struct PlainOperation {
  template <class V>
  static HWY_INLINE V prepare(V v) {
    return v;
  }
  template <class V>
  static HWY_INLINE V finish(V v) {
    return canonical(v);
  }
};

template <ReduceOp op>
struct Operation;

template <>
struct Operation<ReduceOp::sum> : PlainOperation {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Add(a, b);
  }
};

template <>
struct Operation<ReduceOp::prod> : PlainOperation {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return multiply(a, b);
  }
};

template <>
struct Operation<ReduceOp::min> : PlainOperation {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return minimum(a, b);
  }
};

// Of floats: the negated minimum of the negated sources.
template <>
struct Operation<ReduceOp::max> {
  template <class V>
  static HWY_INLINE V prepare(V v) {
    if constexpr (is_float_vector<V>) {
      return hn::Neg(v);
    } else {
      return v;
    }
  }
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    if constexpr (is_float_vector<V>) {
      return minimum(a, b);
    } else {
      return hn::Max(a, b);
    }
  }
  template <class V>
  static HWY_INLINE V finish(V v) {
    return canonical(prepare(v));
  }
};

template <>
struct Operation<ReduceOp::band> : PlainOperation {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::And(a, b);
  }
};

template <>
struct Operation<ReduceOp::bor> : PlainOperation {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Or(a, b);
  }
};

template <>
struct Operation<ReduceOp::bxor> : PlainOperation {
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Xor(a, b);
  }
};

// The same on a wide form of one vector or two.
template <class Op, class V>
HWY_INLINE V prepare_wide(V v) {
  return Op::prepare(v);
}
template <class Op, class V>
HWY_INLINE Pair<V> prepare_wide(Pair<V> v) {
  return {Op::prepare(v.even), Op::prepare(v.odd)};
}
template <class Op, class V>
HWY_INLINE V combine_wide(V a, V b) {
  return Op::combine(a, b);
}
template <class Op, class V>
HWY_INLINE Pair<V> combine_wide(Pair<V> a, Pair<V> b) {
  return {Op::combine(a.even, b.even), Op::combine(a.odd, b.odd)};
}
template <class Op, class V>
HWY_INLINE V finish_wide(V v) {
  return Op::finish(v);
}
template <class Op, class V>
HWY_INLINE Pair<V> finish_wide(Pair<V> v) {
  return {Op::finish(v.even), Op::finish(v.odd)};
}

}  // namespace HWY_NAMESPACE
}  // namespace gyre
HWY_AFTER_NAMESPACE();

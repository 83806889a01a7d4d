// SPDX-License-Identifier: Apache-2.0
// Vector twins of the element types of memory/element.h: how a vector of stored elements becomes
// one or two vectors to compute with, and back. Included by kernels-inl.h alone, once for each
// vector target: hence no guard.

#include <cstddef>
#include <cstdint>

#include "memory/element.h"

HWY_BEFORE_NAMESPACE();
namespace gyre {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether loads and stores of part of a vector touch no other byte, for any lane size.
inline constexpr bool masked_bytes = HWY_TARGET == HWY_AVX3;

template <class BytesTag>
HWY_INLINE hn::Vec<BytesTag> load_part(BytesTag tag, const std::byte* from, std::size_t bytes) {
  const auto* source = reinterpret_cast<const std::uint8_t*>(from);
  if constexpr (masked_bytes) {
    return hn::MaskedLoad(hn::FirstN(tag, bytes), tag, source);
  } else {
    HWY_ALIGN std::uint8_t padded[hn::MaxLanes(BytesTag())] = {};
    std::memcpy(padded, source, bytes);
    return hn::Load(tag, padded);
  }
}

template <class BytesTag>
HWY_INLINE void store_part(hn::Vec<BytesTag> vector, BytesTag tag, std::byte* to,
                           std::size_t bytes) {
  auto* destination = reinterpret_cast<std::uint8_t*>(to);
  if constexpr (masked_bytes) {
    hn::BlendedStore(vector, hn::FirstN(tag, bytes), tag, destination);
  } else {
    HWY_ALIGN std::uint8_t padded[hn::MaxLanes(BytesTag())];
    hn::Store(vector, tag, padded);
    std::memcpy(destination, padded, bytes);
  }
}

// The wide form of a vector that holds twice as many elements as one vector of floats.
template <class V>
struct Pair {
  V even;
  V odd;
};

// Raw: the stored bytes of `raw_bytes / sizeof(element)` elements. Wide: what is combined.
template <typename T>
struct PlainFormat {
  using Tag = hn::ScalableTag<T>;
  using Wide = hn::Vec<Tag>;
  using Factor = T;
  using RawTag = hn::Repartition<std::uint8_t, Tag>;
  using Raw = hn::Vec<RawTag>;

  static HWY_INLINE Wide decode(Raw raw) { return hn::BitCast(Tag(), raw); }
  static HWY_INLINE Raw encode(Wide wide) { return hn::BitCast(RawTag(), wide); }
  static HWY_INLINE Wide splat(T value) { return hn::Set(Tag(), value); }
};

using FloatTag = hn::ScalableTag<float>;
using WordTag = hn::RebindToUnsigned<FloatTag>;
using SignedWordTag = hn::RebindToSigned<FloatTag>;
using FloatVector = hn::Vec<FloatTag>;

// Formats whose elements are combined as float32; encode expects the canonical NaN if any.
template <DataType type>
struct Format : PlainFormat<typename Element<type>::Stored> {};

template <>
struct Format<DataType::float16> {
  using HalfTag = hn::Rebind<hwy::float16_t, FloatTag>;
  using Wide = FloatVector;
  using Factor = float;
  using RawTag = hn::Repartition<std::uint8_t, HalfTag>;
  using Raw = hn::Vec<RawTag>;

  static HWY_INLINE Wide decode(Raw raw) {
    return hn::PromoteTo(FloatTag(), hn::BitCast(HalfTag(), raw));
  }
  static HWY_INLINE Raw encode(Wide wide) {
    return hn::BitCast(RawTag(), hn::DemoteTo(HalfTag(), wide));
  }
  static HWY_INLINE Wide splat(float value) { return hn::Set(FloatTag(), value); }
};

// A vector of words holds two bfloat16 in each: the even one moves up by a shift, the odd one is
// already in place.
template <>
struct Format<DataType::bfloat16> {
  using Wide = Pair<FloatVector>;
  using Factor = float;
  using RawTag = hn::Repartition<std::uint8_t, FloatTag>;
  using Raw = hn::Vec<RawTag>;

  static HWY_INLINE Wide decode(Raw raw) {
    const auto words = hn::BitCast(WordTag(), raw);
    return {hn::BitCast(FloatTag(), hn::ShiftLeft<16>(words)),
            hn::BitCast(FloatTag(), hn::And(words, hn::Set(WordTag(), 0xffff0000U)))};
  }
  static HWY_INLINE Raw encode(Wide wide) {
    const auto even = hn::ShiftRight<16>(rounded(wide.even));
    const auto odd = hn::And(rounded(wide.odd), hn::Set(WordTag(), 0xffff0000U));
    return hn::BitCast(RawTag(), hn::Or(even, odd));
  }
  static HWY_INLINE Wide splat(float value) {
    return {hn::Set(FloatTag(), value), hn::Set(FloatTag(), value)};
  }

 private:
  // The upper half of each word is the result. Infinity and the canonical NaN pass unharmed: what
  // is added does not carry into their upper half.
  static HWY_INLINE hn::Vec<WordTag> rounded(FloatVector value) {
    const auto words = hn::BitCast(WordTag(), value);
    const auto is_odd = hn::And(hn::ShiftRight<16>(words), hn::Set(WordTag(), 1U));
    return hn::Add(words, hn::Add(is_odd, hn::Set(WordTag(), 0x7fffU)));
  }
};

// The parts that both 8-bit floats share. They widen by way of float16, which holds all of their
// values, but are rounded straight from float32: rounding twice would not be the nearest.
template <const SmallFloatFormat& format>
struct Float8Format {
  using ByteTag = hn::Rebind<std::uint8_t, FloatTag>;
  using ShortTag = hn::Rebind<std::uint16_t, FloatTag>;
  using HalfTag = hn::Rebind<hwy::float16_t, FloatTag>;
  using Wide = FloatVector;
  using Factor = float;
  using RawTag = ByteTag;
  using Raw = hn::Vec<RawTag>;

  static HWY_INLINE Wide splat(float value) { return hn::Set(FloatTag(), value); }

 protected:
  using Words = hn::Vec<SignedWordTag>;
  static constexpr int dropped_bits = small_float::float32_mantissa_bits - format.mantissa_bits;

  // Magnitude bits of the result for a finite `magnitude`, saturated.
  static HWY_INLINE Words finite_code(Words magnitude) {
    const SignedWordTag tag;
    const auto is_odd = hn::And(hn::ShiftRight<dropped_bits>(magnitude), hn::Set(tag, 1));
    const auto half = hn::Set(tag, (1 << (dropped_bits - 1)) - 1);
    const auto rebias =
        hn::Set(tag, (small_float::float32_bias - format.bias) << format.mantissa_bits);
    const auto normal =
        hn::Sub(hn::ShiftRight<dropped_bits>(hn::Add(magnitude, hn::Add(half, is_odd))), rebias);
    const auto smallest_normal = hn::Set(tag, (small_float::float32_bias - format.bias + 1)
                                                  << small_float::float32_mantissa_bits);
    const auto code =
        hn::IfThenElse(hn::Lt(magnitude, smallest_normal), subnormal_code(magnitude), normal);
    return hn::Min(code, hn::Set(tag, static_cast<std::int32_t>(format.largest_code)));
  }

  static HWY_INLINE Words magnitude_of(Wide wide) {
    return hn::And(hn::BitCast(SignedWordTag(), wide), hn::Set(SignedWordTag(), 0x7fffffff));
  }

  static HWY_INLINE Raw with_sign(Words code, Wide wide) {
    const auto words = hn::BitCast(WordTag(), wide);
    const auto sign = hn::And(hn::ShiftRight<24>(words), hn::Set(WordTag(), 0x80U));
    return hn::TruncateTo(ByteTag(), hn::Or(hn::BitCast(WordTag(), code), sign));
  }

 private:
  // Adding a power of two whose last mantissa bit is worth the smallest subnormal makes the
  // floating-point adder round; the integer is then what was added to the bits of that power.
  static HWY_INLINE Words subnormal_code(Words magnitude) {
    constexpr std::int32_t power = (small_float::float32_bias + 1 - format.bias + dropped_bits)
                                   << small_float::float32_mantissa_bits;
    const auto bits = hn::Set(SignedWordTag(), power);
    const auto sum = hn::Add(hn::BitCast(FloatTag(), magnitude), hn::BitCast(FloatTag(), bits));
    return hn::Sub(hn::BitCast(SignedWordTag(), sum), bits);
  }
};

template <>
struct Format<DataType::float8e4m3> : Float8Format<float8e4m3_format> {
  // As float16 the exponent is read with a bias that is larger by 8.
  static HWY_INLINE Wide decode(Raw raw) {
    const ShortTag tag;
    const auto code = hn::PromoteTo(tag, raw);
    const auto sign = hn::ShiftLeft<8>(hn::And(code, hn::Set(tag, 0x80)));
    const auto magnitude = hn::And(code, hn::Set(tag, 0x7f));
    const auto nan = hn::Set(tag, 0x7e00);
    const auto half = hn::IfThenElse(hn::Eq(magnitude, hn::Set(tag, 0x7f)), nan,
                                     hn::Or(sign, hn::ShiftLeft<7>(magnitude)));
    const auto value = hn::PromoteTo(FloatTag(), hn::BitCast(HalfTag(), half));
    return hn::Mul(value, hn::Set(FloatTag(), 256.0F));
  }
  static HWY_INLINE Raw encode(Wide wide) {
    const auto magnitude = magnitude_of(wide);
    const auto is_nan = hn::Gt(magnitude, hn::Set(SignedWordTag(), 0x7f800000));
    const auto code =
        hn::IfThenElse(is_nan, hn::Set(SignedWordTag(), 0x7f), finite_code(magnitude));
    return with_sign(code, wide);
  }
};

template <>
struct Format<DataType::float8e5m2> : Float8Format<float8e5m2_format> {
  // The upper half of a float16.
  static HWY_INLINE Wide decode(Raw raw) {
    const auto half = hn::ShiftLeft<8>(hn::PromoteTo(ShortTag(), raw));
    return hn::PromoteTo(FloatTag(), hn::BitCast(HalfTag(), half));
  }
  static HWY_INLINE Raw encode(Wide wide) {
    const SignedWordTag tag;
    const auto magnitude = magnitude_of(wide);
    const auto is_special = hn::Gt(magnitude, hn::Set(tag, 0x7f7fffff));
    // Infinity and the canonical NaN keep the upper bits of theirs.
    const auto special = hn::And(hn::ShiftRight<dropped_bits>(magnitude), hn::Set(tag, 0x7f));
    return with_sign(hn::IfThenElse(is_special, special, finite_code(magnitude)), wide);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace gyre
HWY_AFTER_NAMESPACE();

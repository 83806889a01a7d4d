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

// encode expects the canonical NaN if any.
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

// The parts that both 8-bit floats share. float16 holds all of their values, so they widen by way
// of it, and narrow by way of it once the float32 has been rounded to a value that they have:
// rounding to float16 first would be rounding twice.
template <const SmallFloatFormat& format>
struct Float8Format {
  using ByteTag = hn::Rebind<std::uint8_t, FloatTag>;
  using ShortTag = hn::Rebind<std::int16_t, FloatTag>;
  using HalfTag = hn::Rebind<hwy::float16_t, FloatTag>;
  using Shorts = hn::Vec<ShortTag>;
  using Wide = FloatVector;
  using Factor = float;
  using RawTag = ByteTag;
  using Raw = hn::Vec<RawTag>;

  static HWY_INLINE Wide splat(float value) { return hn::Set(FloatTag(), value); }

 protected:
  static HWY_INLINE Wide from_half(Shorts half) {
    return hn::PromoteTo(FloatTag(), hn::BitCast(HalfTag(), half));
  }
  static HWY_INLINE Shorts to_half(Wide wide) {
    return hn::BitCast(ShortTag(), hn::DemoteTo(HalfTag(), wide));
  }

  static HWY_INLINE Wide clamp(Wide value) {
    const float largest = small_float::widen(format.largest_code, format);
    const FloatTag tag;
    return hn::Max(hn::Min(value, hn::Set(tag, largest)), hn::Set(tag, -largest));
  }

  // The nearest value of the format, for a magnitude up to its largest. A number is added whose
  // last mantissa bit is worth what the last one of the result is, so that the floating-point adder
  // rounds, and is taken away again. It is 1.5 times a power of two, to have the same last bit
  // after adding a negative value. Infinity and NaN come back as they are.
  static HWY_INLINE Wide round(Wide value) {
    constexpr int mantissa_bits = small_float::float32_mantissa_bits;
    constexpr std::int32_t smallest_exponent = (small_float::float32_bias + 1 - format.bias)
                                               << mantissa_bits;
    constexpr std::int32_t step_to_adder =
        ((mantissa_bits - format.mantissa_bits) << mantissa_bits) + (1 << (mantissa_bits - 1));
    const SignedWordTag tag;
    const auto exponent = hn::Max(exponent_of(value), hn::Set(tag, smallest_exponent));
    const auto adder = hn::BitCast(FloatTag(), hn::Add(exponent, hn::Set(tag, step_to_adder)));
    const auto rounded = hn::Sub(hn::Add(value, adder), adder);
    return hn::OrAnd(rounded, value, hn::Set(FloatTag(), -0.0F));  // for what rounds to -0
  }

  static HWY_INLINE hn::Vec<SignedWordTag> exponent_of(Wide value) {
    return hn::And(hn::BitCast(SignedWordTag(), value), hn::Set(SignedWordTag(), 0x7f800000));
  }
};

template <>
struct Format<DataType::float8e4m3> : Float8Format<float8e4m3_format> {
  // As float16 the same bits have an exponent that is smaller by 8, and NaN would be 480.
  static HWY_INLINE Wide decode(Raw raw) {
    const ShortTag tag;
    const auto code = hn::BitCast(tag, hn::PromoteTo(hn::RebindToUnsigned<ShortTag>(), raw));
    const auto magnitude = hn::And(code, hn::Set(tag, 0x7f));
    const auto sign = hn::ShiftLeft<8>(hn::Xor(code, magnitude));
    const auto half = hn::IfThenElse(hn::Eq(magnitude, hn::Set(tag, 0x7f)), hn::Set(tag, 0x7e00),
                                     hn::Or(sign, hn::ShiftLeft<7>(magnitude)));
    return hn::Mul(from_half(half), hn::Set(FloatTag(), 0x1p8F));
  }
  static HWY_INLINE Raw encode(Wide wide) {
    const auto number = hn::Mul(round(clamp(wide)), hn::Set(FloatTag(), 0x1p-8F));
    const auto nan = hn::Set(FloatTag(), 480.0F * 0x1p-8F);
    const auto half = to_half(hn::IfThenElse(hn::IsNaN(wide), nan, number));
    const ShortTag tag;
    const auto magnitude = hn::And(hn::ShiftRight<7>(half), hn::Set(tag, 0x7f));
    const auto code = hn::OrAnd(magnitude, hn::ShiftRight<8>(half), hn::Set(tag, 0x80));
    return hn::DemoteTo(ByteTag(), code);
  }
};

template <>
struct Format<DataType::float8e5m2> : Float8Format<float8e5m2_format> {
  // The upper half of a float16.
  static HWY_INLINE Wide decode(Raw raw) {
    const auto code = hn::PromoteTo(hn::RebindToUnsigned<ShortTag>(), raw);
    return from_half(hn::BitCast(ShortTag(), hn::ShiftLeft<8>(code)));
  }
  static HWY_INLINE Raw encode(Wide wide) {
    const auto is_special = hn::Eq(exponent_of(wide), hn::Set(SignedWordTag(), 0x7f800000));
    const auto number = hn::IfThenElse(hn::RebindMask(FloatTag(), is_special), wide, clamp(wide));
    const auto half = hn::BitCast(hn::RebindToUnsigned<ShortTag>(), to_half(round(number)));
    return hn::DemoteTo(ByteTag(), hn::BitCast(ShortTag(), hn::ShiftRight<8>(half)));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace gyre
HWY_AFTER_NAMESPACE();

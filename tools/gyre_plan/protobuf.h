// SPDX-License-Identifier: Apache-2.0
// As much of protobuf's wire format as a writer of messages needs (protobuf.dev, "Encoding"): fields
// are a key, number << 3 | wire type, and a value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gyre::tool {

class ProtobufMessage {
 public:
  static void append_varint(std::string& to, std::uint64_t value) {
    constexpr std::uint64_t low_bits = 0x7f;
    for (; value > low_bits; value >>= 7U) {
      to.push_back(static_cast<char>((value & low_bits) | (low_bits + 1)));
    }
    to.push_back(static_cast<char>(value));
  }

  // Integers, enums and bool. A negative int32 or int64 is sign-extended to 64 bits first.
  ProtobufMessage& number(unsigned field, std::uint64_t value) {
    append_varint(text_, field << 3U);
    append_varint(text_, value);
    return *this;
  }
  // Strings, bytes and messages.
  ProtobufMessage& text(unsigned field, std::string_view value) {
    append_varint(text_, field << 3U | 2U);
    append_varint(text_, value.size());
    text_.append(value);
    return *this;
  }
  ProtobufMessage& packed(unsigned field, std::span<const std::uint32_t> values) {
    std::string all;
    for (const std::uint32_t value : values) append_varint(all, value);
    return all.empty() ? *this : text(field, all);
  }

  [[nodiscard]] const std::string& bytes() const { return text_; }

 private:
  std::string text_;
};

}  // namespace gyre::tool

// SPDX-License-Identifier: Apache-2.0
// Little-endian integers and length-prefixed blobs, to and from bytes. A reader never reads past
// its end: the first short read makes it invalid, and it stays so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::net {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

class ByteWriter {
 public:
  void u8(std::uint8_t value) { integer(value, 1); }
  void u16(std::uint16_t value) { integer(value, 2); }
  void u32(std::uint32_t value) { integer(value, 4); }
  void u64(std::uint64_t value) { integer(value, 8); }
  void raw(ByteView bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  // A 32-bit length, then the bytes.
  void blob(ByteView bytes);
  void text(std::string_view text) { blob(std::as_bytes(std::span(text))); }

  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] ByteView view() const { return bytes_; }
  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  void integer(std::uint64_t value, int width);
  Bytes bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) : rest_(bytes) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(integer(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
  std::uint64_t u64() { return integer(8); }
  // `count` bytes of the input itself; empty and invalid when there are fewer.
  ByteView raw(std::size_t count);
  ByteView blob() { return raw(u32()); }
  std::string text();

  [[nodiscard]] bool valid() const { return valid_; }
  // All was there and nothing is left over.
  [[nodiscard]] bool complete() const { return valid_ && rest_.empty(); }
  [[nodiscard]] std::size_t remaining() const { return rest_.size(); }

 private:
  std::uint64_t integer(std::size_t width);
  ByteView rest_;
  bool valid_ = true;
};

}  // namespace gyre::net

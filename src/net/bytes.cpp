// SPDX-License-Identifier: Apache-2.0
#include "net/bytes.h"

namespace gyre::net {

void ByteWriter::blob(ByteView bytes) {
  u32(static_cast<std::uint32_t>(bytes.size()));
  raw(bytes);
}

void ByteWriter::integer(std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) {
    bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
}

ByteView ByteReader::raw(std::size_t count) {
  if (!valid_ || count > rest_.size()) {
    valid_ = false;
    return {};
  }
  const ByteView taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

std::string ByteReader::text() {
  const ByteView bytes = blob();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t ByteReader::integer(std::size_t width) {
  const ByteView bytes = raw(width);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{std::to_integer<std::uint8_t>(bytes[i])} << (8 * i);
  }
  return value;
}

}  // namespace gyre::net

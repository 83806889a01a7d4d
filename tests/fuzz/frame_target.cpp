// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "fuzz/target.h"
#include "net/frame.h"

namespace gyre::fuzz {

// The first byte says into what pieces the stream is cut: the frames must not depend on it.
void consume(net::ByteView bytes) {
  if (bytes.empty()) {
    return;
  }
  const std::size_t piece = 1 + static_cast<std::size_t>(bytes[0]) % 40;
  const net::ByteView stream = bytes.subspan(1);
  const net::FrameLimits limits = {{1, 0}, {2, 16}, {3, 1000}};
  net::FrameParser whole(limits);
  net::FrameParser cut(limits);
  const bool whole_is_good = whole.feed(stream).has_value();
  bool cut_is_good = true;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    cut_is_good = cut.feed(stream.subspan(at, std::min(piece, stream.size() - at))).has_value();
  }
  require(whole_is_good == cut_is_good);
  for (;;) {
    const auto one = whole.next();
    const auto other = cut.next();
    require(one.has_value() == other.has_value());
    if (!one) {
      break;
    }
    require(one->type == other->type && one->payload == other->payload);
    require(one->payload.size() <= limits.at(one->type));
  }
}

std::vector<net::Bytes> seeds() {
  net::ByteWriter stream;
  stream.u8(7);
  for (const net::FrameType type : std::array<net::FrameType, 4>{1, 2, 3, 2}) {
    stream.raw(net::encode_frame(type, net::Bytes(type == 1 ? 0 : 16, std::byte{9})));
  }
  return {stream.take()};
}

}  // namespace gyre::fuzz

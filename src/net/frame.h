// SPDX-License-Identifier: Apache-2.0
// Messages on a byte stream, after the handshake: a header of 16 bytes, then the payload.
//
//   offset size
//   0      4    magic "GYRF"
//   4      2    frame version, 1
//   6      2    type
//   8      8    payload length in bytes, little endian, as all integers
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "base/status.h"
#include "net/bytes.h"

namespace gyre::net {

using FrameType = std::uint16_t;
inline constexpr std::size_t frame_header_bytes = 16;
inline constexpr std::uint16_t frame_version = 1;

struct Frame {
  FrameType type = 0;
  Bytes payload;
};

// The types that a reader understands, each with the largest payload that it accepts, in bytes.
using FrameLimits = std::map<FrameType, std::uint64_t>;

// Header and payload in one piece.
Bytes encode_frame(FrameType type, ByteView payload);

// Bytes in, frames out; no input or output of its own. The first malformed header makes it fail,
// and it stays failed: a stream that lost its place cannot be read on. Memory is taken as payload
// arrives, never ahead for a length that a header merely claims.
class FrameParser {
 public:
  explicit FrameParser(FrameLimits limits) : limits_(std::move(limits)) {}

  Status feed(ByteView bytes);
  // The next whole frame, oldest first.
  std::optional<Frame> next();
  // The stream may end here: no frame is half read.
  [[nodiscard]] bool at_boundary() const { return header_.empty() && !in_payload_; }

 private:
  Status begin_payload();
  void finish_frame();

  FrameLimits limits_;
  std::optional<Error> failure_;
  Bytes header_;  // of the current frame, until it is whole
  bool in_payload_ = false;
  std::uint64_t wanted_ = 0;  // payload bytes of the current frame
  Frame current_;
  std::deque<Frame> ready_;
};

}  // namespace gyre::net

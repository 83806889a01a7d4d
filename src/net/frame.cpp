// SPDX-License-Identifier: Apache-2.0
#include "net/frame.h"

#include <algorithm>

#include <fmt/format.h>

namespace gyre::net {
namespace {

constexpr std::uint32_t frame_magic = 0x46525947;  // "GYRF" in memory order

}  // namespace

Bytes encode_frame(FrameType type, ByteView payload) {
  ByteWriter writer;
  writer.u32(frame_magic);
  writer.u16(frame_version);
  writer.u16(type);
  writer.u64(payload.size());
  writer.raw(payload);
  return writer.take();
}

Status FrameParser::feed(ByteView bytes) {
  while (!bytes.empty() && !failure_) {
    Bytes& target = in_payload_ ? current_.payload : header_;
    const std::uint64_t whole = in_payload_ ? wanted_ : frame_header_bytes;
    const std::size_t taken = std::min<std::uint64_t>(whole - target.size(), bytes.size());
    target.insert(target.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    bytes = bytes.subspan(taken);
    if (target.size() < whole) {
      break;
    }
    if (in_payload_) {
      finish_frame();
    } else if (Status begun = begin_payload(); !begun) {
      failure_ = begun.error();
    }
  }
  if (failure_) {
    return Unexpected(*failure_);
  }
  return {};
}

Status FrameParser::begin_payload() {
  ByteReader reader(header_);
  if (const std::uint32_t magic = reader.u32(); magic != frame_magic) {
    return gyre::fail(Code::remote_error,
                      fmt::format("a message began with 0x{:08x} instead of \"GYRF\"", magic));
  }
  if (const std::uint16_t version = reader.u16(); version != frame_version) {
    return gyre::fail(Code::remote_error,
                      fmt::format("a message has version {}, expected {}", version, frame_version));
  }
  current_.type = reader.u16();
  wanted_ = reader.u64();
  const auto limit = limits_.find(current_.type);
  if (limit == limits_.end()) {
    return gyre::fail(Code::remote_error,
                      fmt::format("a message has the unknown type {}", current_.type));
  }
  if (wanted_ > limit->second) {
    return gyre::fail(Code::remote_error,
                      fmt::format("a message of type {} claims {} bytes, at most {} are allowed",
                                  current_.type, wanted_, limit->second));
  }
  header_.clear();
  in_payload_ = true;
  if (wanted_ == 0) {
    finish_frame();
  }
  return {};
}

void FrameParser::finish_frame() {
  ready_.push_back(std::move(current_));
  current_ = Frame{};
  in_payload_ = false;
}

std::optional<Frame> FrameParser::next() {
  if (ready_.empty()) {
    return std::nullopt;
  }
  Frame frame = std::move(ready_.front());
  ready_.pop_front();
  return frame;
}

}  // namespace gyre::net

// SPDX-License-Identifier: Apache-2.0
// The messages between FdServer and fetch(), after the handshake. One request and one reply a
// connection, each of 16 bytes, integers in little-endian order:
//
//   request  offset size                       reply  offset size
//            0      4    magic "GYRS"                 0      4    magic "GYRS"
//            4      2    version, 1                   4      2    version, 1
//            6      2    ObjectKind                   6      2    Answer
//            8      8    id                           8      8    size of the segment in bytes
//
// A granted reply carries the descriptor as SCM_RIGHTS with its first byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/bytes.h"

namespace gyre::shm {

// region: an id of the process's RegionTable. segment: an id that a communicator chose for a
// segment of its own; means something only together with (epoch, owner rank).
enum class ObjectKind : std::uint8_t { region = 1, segment = 2 };

struct ObjectName {
  ObjectKind kind = ObjectKind::segment;
  std::uint64_t id = 0;
  friend bool operator==(const ObjectName&, const ObjectName&) = default;
};

enum class Answer : std::uint8_t {
  granted = 0,
  unknown = 1,  // no such object, or no longer
  failed = 2,   // this side could not (out of descriptors)
};

struct Reply {
  Answer answer = Answer::unknown;
  std::uint64_t bytes = 0;
};

inline constexpr std::size_t request_bytes = 16;
inline constexpr std::size_t reply_bytes = 16;

// Name of the abstract socket of one rank; `address` is the process's.
[[nodiscard]] std::string socket_name(std::string_view address, std::uint64_t epoch, int rank);

[[nodiscard]] net::Bytes encode_request(const ObjectName& name);
[[nodiscard]] net::Bytes encode_reply(const Reply& reply);
// Nothing when the bytes are no message of this version.
[[nodiscard]] std::optional<ObjectName> decode_request(net::ByteView bytes);
[[nodiscard]] std::optional<Reply> decode_reply(net::ByteView bytes);

}  // namespace gyre::shm

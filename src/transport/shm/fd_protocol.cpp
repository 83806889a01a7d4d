// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/fd_protocol.h"

#include <fmt/core.h>

namespace gyre::shm {
namespace {

constexpr std::uint32_t magic = 0x53525947;  // "GYRS"
constexpr std::uint16_t version = 1;

struct Message {
  std::uint16_t what = 0;
  std::uint64_t value = 0;
};

net::Bytes encode(Message message) {
  net::ByteWriter writer;
  writer.u32(magic);
  writer.u16(version);
  writer.u16(message.what);
  writer.u64(message.value);
  return writer.take();
}

std::optional<Message> decode(net::ByteView bytes) {
  net::ByteReader reader(bytes);
  const bool known = reader.u32() == magic && reader.u16() == version;
  Message message;
  message.what = reader.u16();
  message.value = reader.u64();
  if (!known || !reader.complete()) {
    return std::nullopt;
  }
  return message;
}

}  // namespace

std::string socket_name(std::string_view address, std::uint64_t epoch, int rank) {
  return fmt::format("{}-{:016x}-{}", address, epoch, rank);
}

net::Bytes encode_request(const ObjectName& name) {
  return encode({static_cast<std::uint16_t>(name.kind), name.id});
}

net::Bytes encode_reply(const Reply& reply) {
  return encode({static_cast<std::uint16_t>(reply.answer), reply.bytes});
}

std::optional<ObjectName> decode_request(net::ByteView bytes) {
  const auto message = decode(bytes);
  if (!message || (message->what != static_cast<std::uint16_t>(ObjectKind::region) &&
                   message->what != static_cast<std::uint16_t>(ObjectKind::segment))) {
    return std::nullopt;
  }
  return ObjectName{static_cast<ObjectKind>(message->what), message->value};
}

std::optional<Reply> decode_reply(net::ByteView bytes) {
  const auto message = decode(bytes);
  if (!message || message->what > static_cast<std::uint16_t>(Answer::failed)) {
    return std::nullopt;
  }
  return Reply{static_cast<Answer>(message->what), message->value};
}

}  // namespace gyre::shm

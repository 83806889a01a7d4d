// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "gyre_plan/exports.h"
#include "gyre_plan/protobuf.h"

namespace gyre::tool {
namespace {

// Numbers of et_def.proto.
namespace attribute {
constexpr unsigned name = 1, int32_value = 7, int64_value = 9, uint64_value = 13, bool_value = 27;
}
namespace node {
constexpr unsigned id = 1, name = 2, type = 3, data_deps = 5, duration_micros = 7, attr = 10;
}
enum class NodeType : std::uint8_t { compute = 4, send = 5, receive = 6 };
constexpr unsigned metadata_version = 1;
constexpr std::string_view version = "0.0.4";

void write_delimited(std::ostream& to, const ProtobufMessage& message) {
  std::string length;
  ProtobufMessage::append_varint(length, message.bytes().size());
  to << length << message.bytes();
}

void add_attribute(ProtobufMessage& to, std::string_view name, unsigned value_field,
                   std::uint64_t value) {
  ProtobufMessage attr;
  attr.text(attribute::name, name).number(value_field, value);
  to.text(node::attr, attr.bytes());
}

NodeType type_of(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::send:
      return NodeType::send;
    case Operation::Kind::receive:
      return NodeType::receive;
    case Operation::Kind::compute:
      break;
  }
  return NodeType::compute;
}

void add_communication(ProtobufMessage& to, int rank, const Operation& operation) {
  const bool sends = operation.kind == Operation::Kind::send;
  const int source = sends ? rank : operation.peer;
  const int destination = sends ? operation.peer : rank;
  to.text(node::name, fmt::format("{} {} to {}", sends ? "send" : "receive", source, destination));
  add_attribute(to, "comm_size", attribute::int64_value, operation.bytes);
  add_attribute(to, "comm_src", attribute::int32_value, static_cast<std::uint64_t>(source));
  add_attribute(to, "comm_dst", attribute::int32_value, static_cast<std::uint64_t>(destination));
  add_attribute(to, "comm_tag", attribute::int32_value, operation.tag);
}

void add_computation(ProtobufMessage& to, const Operation& operation, double seconds) {
  to.text(node::name, operation.bytes > 0 ? "combine" : "join");
  to.number(node::duration_micros, static_cast<std::uint64_t>(std::llround(seconds * 1e6)));
  add_attribute(to, "num_ops", attribute::int64_value, operation.bytes);
  add_attribute(to, "tensor_size", attribute::uint64_value, operation.bytes);
}

}  // namespace

void write_chakra_rank(std::ostream& to, int rank, std::span<const Operation> operations,
                       double seconds_per_combined_byte) {
  write_delimited(to, ProtobufMessage().text(metadata_version, version));
  std::uint64_t id = 0;
  for (const Operation& operation : operations) {
    ProtobufMessage message;
    message.number(node::id, id++)
        .number(node::type, static_cast<std::uint64_t>(type_of(operation)))
        .packed(node::data_deps, operation.after);
    add_attribute(message, "is_cpu_op", attribute::bool_value, 0);
    if (operation.kind == Operation::Kind::compute) {
      add_computation(message, operation,
                      static_cast<double>(operation.bytes) * seconds_per_combined_byte);
    } else {
      add_communication(message, rank, operation);
    }
    write_delimited(to, message);
  }
}

}  // namespace gyre::tool

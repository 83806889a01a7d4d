// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/messages.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>

namespace gyre::bootstrap {
namespace {

constexpr std::uint64_t max_check_in = 1024;
constexpr std::uint64_t max_welcome = 4096;  // at most 31 neighbours of 27 bytes
constexpr std::uint64_t max_error = 64 * 1024;
constexpr std::uint64_t max_introduction = 1024;
constexpr std::uint64_t max_gather = 1u << 30;
constexpr std::size_t max_error_text = 16 * 1024;
constexpr std::size_t max_listed_ranks = 8;

net::FrameType type(Message message) {
  return static_cast<net::FrameType>(message);
}

void encode_error(net::ByteWriter& writer, const Error& error) {
  writer.u8(static_cast<std::uint8_t>(error.code));
  writer.text(std::string_view(error.message).substr(0, max_error_text));
}

Error decode_error(net::ByteReader& reader) {
  const std::uint8_t code = reader.u8();
  Error error{Code::internal_error, reader.text()};
  if (code >= 1 && code <= static_cast<std::uint8_t>(Code::aborted)) {
    error.code = static_cast<Code>(code);
  }
  return error;
}

std::chrono::milliseconds milliseconds(std::uint32_t count) {
  return std::chrono::milliseconds(count);
}

std::uint32_t count_of(std::chrono::milliseconds duration) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(duration.count(), 0, UINT32_MAX));
}

}  // namespace

net::FrameLimits limits_at_root() {
  return {{type(Message::check_in), max_check_in}};
}

net::FrameLimits limits_at_rank() {
  return {{type(Message::welcome), max_welcome}, {type(Message::refusal), max_error}};
}

net::FrameLimits limits_on_links() {
  return {{type(Message::introduction), max_introduction},
          {type(Message::gather), max_gather},
          {type(Message::failure), max_error},
          {type(Message::goodbye), 0}};
}

Person Person::self() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return Person{static_cast<std::uint64_t>(::getpid()), name.data()};
}

void Person::encode(net::ByteWriter& writer) const {
  writer.u64(pid);
  writer.text(host);
}

Person Person::decode(net::ByteReader& reader) {
  Person person;
  person.pid = reader.u64();
  person.host = reader.text();
  return person;
}

std::string Person::to_string() const {
  return fmt::format("pid {} on host {}", pid, host);
}

std::string name_of(int rank, const Person& person) {
  return fmt::format("rank {} ({})", rank, person.to_string());
}

std::string own_network() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat status {};
  if (::stat("/proc/self/ns/net", &status) != 0) {
    status = {};
  }
  return fmt::format("{}/{}", boot, status.st_ino);
}

net::Bytes CheckIn::encode() const {
  net::ByteWriter writer;
  writer.u32(static_cast<std::uint32_t>(rank));
  writer.u32(static_cast<std::uint32_t>(size));
  writer.u32(count_of(remaining));
  writer.u32(count_of(timeout));
  address.encode(writer);
  writer.text(network);
  person.encode(writer);
  return writer.take();
}

std::optional<CheckIn> CheckIn::decode(net::ByteView payload) {
  net::ByteReader reader(payload);
  CheckIn message;
  message.rank = static_cast<std::int32_t>(reader.u32());
  message.size = static_cast<std::int32_t>(reader.u32());
  message.remaining = milliseconds(reader.u32());
  message.timeout = milliseconds(reader.u32());
  message.address = net::Address::decode(reader);
  message.network = reader.text();
  message.person = Person::decode(reader);
  return reader.complete() ? std::optional(message) : std::nullopt;
}

net::Bytes Welcome::encode() const {
  net::ByteWriter writer;
  writer.u32(static_cast<std::uint32_t>(dial.size()));
  for (const Neighbour& neighbour : dial) {
    writer.u32(static_cast<std::uint32_t>(neighbour.rank));
    neighbour.address.encode(writer);
  }
  return writer.take();
}

std::optional<Welcome> Welcome::decode(net::ByteView payload) {
  net::ByteReader reader(payload);
  Welcome message;
  for (std::uint32_t left = reader.u32(); left > 0 && reader.valid(); --left) {
    const auto rank = static_cast<std::int32_t>(reader.u32());
    message.dial.push_back({rank, net::Address::decode(reader)});
  }
  return reader.complete() ? std::optional(message) : std::nullopt;
}

net::Bytes Refusal::encode() const {
  net::ByteWriter writer;
  encode_error(writer, error);
  return writer.take();
}

std::optional<Refusal> Refusal::decode(net::ByteView payload) {
  net::ByteReader reader(payload);
  Refusal message{decode_error(reader)};
  return reader.complete() ? std::optional(message) : std::nullopt;
}

net::Bytes GatherStep::encode() const {
  net::ByteWriter writer;
  writer.u64(sequence);
  writer.u8(round);
  writer.u8(static_cast<std::uint8_t>(kind));
  writer.u32(static_cast<std::uint32_t>(blocks.size()));
  for (const net::Bytes& block : blocks) {
    writer.blob(block);
  }
  return writer.take();
}

std::optional<GatherStep> GatherStep::decode(net::ByteView payload) {
  net::ByteReader reader(payload);
  GatherStep message;
  message.sequence = reader.u64();
  message.round = reader.u8();
  message.kind = static_cast<Kind>(reader.u8());
  for (std::uint32_t left = reader.u32(); left > 0 && reader.valid(); --left) {
    const net::ByteView block = reader.blob();
    message.blocks.emplace_back(block.begin(), block.end());
  }
  return reader.complete() ? std::optional(std::move(message)) : std::nullopt;
}

net::Bytes FailureNews::encode() const {
  net::ByteWriter writer;
  writer.u32(static_cast<std::uint32_t>(culprit));
  encode_error(writer, error);
  return writer.take();
}

std::optional<FailureNews> FailureNews::decode(net::ByteView payload) {
  net::ByteReader reader(payload);
  FailureNews message;
  message.culprit = static_cast<std::int32_t>(reader.u32());
  message.error = decode_error(reader);
  return reader.complete() ? std::optional(message) : std::nullopt;
}

std::string list_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const std::size_t shown = std::min(ranks.size(), max_listed_ranks);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == ranks.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", ranks[i]);
  }
  if (shown < ranks.size()) {
    text += fmt::format(" and {} more", ranks.size() - shown);
  }
  return text;
}

std::string seconds_text(std::chrono::milliseconds duration) {
  return fmt::format("{:g} s", static_cast<double>(duration.count()) / 1000);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

}  // namespace gyre::bootstrap

// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/unique_id.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace gyre::bootstrap {
namespace {

// Layout, little endian:
//   0   4  magic "GYRU"      8  23  root address (net::Address::encode)   31   1  zero
//   4   2  layout, 1        32   8  epoch                                 72  48  zero
//   6   2  zero             40  32  secret                               120   8  checksum
constexpr std::uint32_t id_magic = 0x55525947;  // "GYRU" in memory order
constexpr std::uint16_t id_layout = 1;
constexpr std::size_t checksum_bytes = 8;
constexpr std::size_t checked_bytes = UniqueId::encoded_bytes - checksum_bytes;
static_assert(8 + net::Address::encoded_bytes + 1 == 32);
static_assert(checksum_bytes <= crypto_generichash_BYTES_MAX);

// Guards against cut or mangled text, not against an attacker: who has the id has the secret.
std::uint64_t checksum(net::ByteView bytes) {
  std::array<std::byte, crypto_generichash_BYTES> digest{};
  crypto_generichash(reinterpret_cast<unsigned char*>(digest.data()), digest.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr,
                     0);
  return net::ByteReader(digest).u64();
}

void pad_to(net::ByteWriter& writer, std::size_t size) {
  while (writer.size() < size) {
    writer.u8(0);
  }
}

Status start_sodium() {
  if (sodium_init() < 0) {
    return fail(Code::system_error, "libsodium could not be initialised: no source of randomness?");
  }
  return {};
}

Result<net::Bytes> parse_hex(std::string_view text, std::size_t bytes, std::string_view what) {
  if (text.size() != 2 * bytes) {
    return fail(Code::invalid_argument, fmt::format("{} must have {} hex digits, this has {}.",
                                                    what, 2 * bytes, text.size()));
  }
  net::Bytes result(bytes);
  std::size_t parsed = 0;
  if (sodium_hex2bin(reinterpret_cast<unsigned char*>(result.data()), bytes, text.data(),
                     text.size(), nullptr, &parsed, nullptr) != 0 ||
      parsed != bytes) {
    return fail(
        Code::invalid_argument,
        fmt::format("{} has a character that is no hex digit at position {}.", what, 2 * parsed));
  }
  return result;
}

Unexpected no_id(std::string_view why) {
  return fail(Code::invalid_argument,
              fmt::format("These 128 bytes are no Gyre unique id: {}. They must be handed from "
                          "gyreGetUniqueId to every rank unchanged.",
                          why));
}

}  // namespace

Result<UniqueId> UniqueId::create(const net::Address& root) {
  GYRE_TRY(start_sodium());
  UniqueId id;
  id.root = root;
  randombytes_buf(&id.epoch, sizeof id.epoch);
  randombytes_buf(id.secret.data(), id.secret.size());
  return id;
}

Result<UniqueId> UniqueId::derive(const net::Address& root, const net::Secret& job_secret,
                                  std::string_view job_name) {
  GYRE_TRY(start_sodium());
  std::array<std::byte, net::secret_bytes + sizeof(std::uint64_t)> derived{};
  const std::string label = fmt::format("gyre job {}", job_name);
  crypto_generichash(reinterpret_cast<unsigned char*>(derived.data()), derived.size(),
                     reinterpret_cast<const unsigned char*>(label.data()), label.size(),
                     reinterpret_cast<const unsigned char*>(job_secret.data()), job_secret.size());
  UniqueId id;
  id.root = root;
  std::copy_n(derived.begin(), net::secret_bytes, id.secret.begin());
  id.epoch = net::ByteReader(std::span(derived).subspan(net::secret_bytes)).u64();
  return id;
}

UniqueId::Encoded UniqueId::encode() const {
  net::ByteWriter writer;
  writer.u32(id_magic);
  writer.u16(id_layout);
  writer.u16(0);
  root.encode(writer);
  writer.u8(0);
  writer.u64(epoch);
  writer.raw(secret);
  pad_to(writer, checked_bytes);
  writer.u64(checksum(writer.view()));
  Encoded encoded{};
  std::ranges::copy(writer.view(), encoded.begin());
  return encoded;
}

Result<UniqueId> UniqueId::decode(net::ByteView bytes) {
  if (bytes.size() != encoded_bytes) {
    return no_id(fmt::format("there are {} of them", bytes.size()));
  }
  net::ByteReader reader(bytes);
  if (reader.u32() != id_magic) {
    return no_id("they begin wrongly");
  }
  if (const std::uint16_t layout = reader.u16(); layout != id_layout) {
    return no_id(
        fmt::format("their layout is number {}, this library reads number {}", layout, id_layout));
  }
  if (net::ByteReader(bytes.subspan(checked_bytes)).u64() != checksum(bytes.first(checked_bytes))) {
    return no_id("the checksum does not match");
  }
  UniqueId id;
  static_cast<void>(reader.u16());
  id.root = net::Address::decode(reader);
  static_cast<void>(reader.u8());
  id.epoch = reader.u64();
  std::ranges::copy(reader.raw(net::secret_bytes), id.secret.begin());
  return id;
}

std::string UniqueId::to_hex() const {
  const Encoded encoded = encode();
  std::string text(2 * encoded.size() + 1, '\0');  // sodium writes the final NUL too
  sodium_bin2hex(text.data(), text.size(), reinterpret_cast<const unsigned char*>(encoded.data()),
                 encoded.size());
  text.pop_back();
  return text;
}

Result<UniqueId> UniqueId::from_hex(std::string_view text) {
  const Result<net::Bytes> bytes = parse_hex(text, encoded_bytes, "GYRE_COMM_ID");
  if (!bytes) {
    return Unexpected(bytes.error());
  }
  return decode(*bytes);
}

Result<net::Secret> parse_secret(std::string_view hex) {
  const Result<net::Bytes> bytes = parse_hex(hex, net::secret_bytes, "GYRE_JOB_SECRET");
  if (!bytes) {
    return Unexpected(bytes.error());
  }
  net::Secret secret{};
  std::ranges::copy(*bytes, secret.begin());
  return secret;
}

}  // namespace gyre::bootstrap

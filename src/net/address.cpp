// SPDX-License-Identifier: Apache-2.0
#include "net/address.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

namespace gyre::net {
namespace {

const sockaddr_in& as_v4(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in&>(storage);
}
const sockaddr_in6& as_v6(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in6&>(storage);
}

Address make_v4(in_addr address, std::uint16_t port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr = address;
  in.sin_port = htons(port);
  return {reinterpret_cast<const sockaddr*>(&in), sizeof in};
}

Address make_v6(const in6_addr& address, std::uint16_t port, std::uint32_t scope) {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_addr = address;
  in.sin6_port = htons(port);
  in.sin6_scope_id = scope;
  return {reinterpret_cast<const sockaddr*>(&in), sizeof in};
}

std::string unix_text(const sockaddr_storage& storage, socklen_t length) {
  const auto& un = reinterpret_cast<const sockaddr_un&>(storage);
  const std::size_t name = length - offsetof(sockaddr_un, sun_path);
  if (name <= 1) {
    return "unix:unnamed";
  }
  return fmt::format("unix:@{}", std::string_view(un.sun_path + 1, name - 1));
}

}  // namespace

Address::Address(const sockaddr* address, socklen_t length)
    : length_(std::min<socklen_t>(length, sizeof storage_)) {
  std::memcpy(&storage_, address, length_);
}

Address Address::loopback_v4(std::uint16_t port) {
  return make_v4(in_addr{htonl(INADDR_LOOPBACK)}, port);
}

Result<Address> Address::parse(std::string_view host, std::uint16_t port) {
  const std::string whole(host);
  in_addr v4{};
  if (inet_pton(AF_INET, whole.c_str(), &v4) == 1) {
    return make_v4(v4, port);
  }
  const std::size_t percent = whole.find('%');
  const std::uint32_t scope =
      percent == std::string::npos ? 0 : if_nametoindex(whole.c_str() + percent + 1);
  in6_addr v6{};
  if (inet_pton(AF_INET6, whole.substr(0, percent).c_str(), &v6) == 1) {
    return make_v6(v6, port, scope);
  }
  return fail(Code::invalid_argument,
              fmt::format("\"{}\" is no IPv4 or IPv6 address. Host names are not resolved here; "
                          "give the number.",
                          host));
}

Result<Address> Address::abstract_unix(std::string_view name) {
  sockaddr_un un{};
  if (name.empty() || name.size() + 1 > sizeof un.sun_path) {
    return fail(Code::invalid_argument,
                fmt::format("An abstract Unix name must have 1 to {} bytes, this one has {}.",
                            sizeof un.sun_path - 1, name.size()));
  }
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path + 1, name.data(), name.size());  // the leading NUL makes it abstract
  return Address(reinterpret_cast<const sockaddr*>(&un),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size()));
}

bool Address::is_loopback() const {
  if (family() == AF_INET) {
    return (ntohl(as_v4(storage_).sin_addr.s_addr) >> 24) == 127;
  }
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&as_v6(storage_).sin6_addr);
}

bool Address::is_link_local() const {
  if (family() == AF_INET) {
    return (ntohl(as_v4(storage_).sin_addr.s_addr) >> 16) == 0xa9fe;  // 169.254/16
  }
  return family() == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_v6(storage_).sin6_addr);
}

std::uint16_t Address::port() const {
  if (family() == AF_INET) {
    return ntohs(as_v4(storage_).sin_port);
  }
  return family() == AF_INET6 ? ntohs(as_v6(storage_).sin6_port) : std::uint16_t{0};
}

Address Address::with_port(std::uint16_t port) const {
  if (family() == AF_INET) {
    return make_v4(as_v4(storage_).sin_addr, port);
  }
  if (family() == AF_INET6) {
    return make_v6(as_v6(storage_).sin6_addr, port, as_v6(storage_).sin6_scope_id);
  }
  return *this;
}

std::string Address::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &as_v4(storage_).sin_addr, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), port());
  }
  if (family() == AF_INET6) {
    inet_ntop(AF_INET6, &as_v6(storage_).sin6_addr, text.data(), text.size());
    const std::uint32_t scope = as_v6(storage_).sin6_scope_id;
    return scope == 0 ? fmt::format("[{}]:{}", text.data(), port())
                      : fmt::format("[{}%{}]:{}", text.data(), scope, port());
  }
  return family() == AF_UNIX ? unix_text(storage_, length_) : "no address";
}

void Address::encode(ByteWriter& writer) const {
  std::array<std::byte, 16> address{};
  std::uint8_t version = 0;
  std::uint32_t scope = 0;
  if (family() == AF_INET) {
    version = 4;
    std::memcpy(address.data(), &as_v4(storage_).sin_addr, sizeof(in_addr));
  } else if (family() == AF_INET6) {
    version = 6;
    std::memcpy(address.data(), &as_v6(storage_).sin6_addr, sizeof(in6_addr));
    scope = as_v6(storage_).sin6_scope_id;
  }
  writer.u8(version);
  writer.u16(port());
  writer.raw(address);
  writer.u32(scope);
}

Address Address::decode(ByteReader& reader) {
  const std::uint8_t version = reader.u8();
  const std::uint16_t port = reader.u16();
  const ByteView address = reader.raw(16);
  const std::uint32_t scope = reader.u32();
  if (!reader.valid()) {
    return {};
  }
  if (version == 4) {
    in_addr v4{};
    std::memcpy(&v4, address.data(), sizeof v4);
    return make_v4(v4, port);
  }
  if (version == 6) {
    in6_addr v6{};
    std::memcpy(&v6, address.data(), sizeof v6);
    return make_v6(v6, port, scope);
  }
  return {};
}

bool operator==(const Address& a, const Address& b) {
  return a.length_ == b.length_ && std::memcmp(&a.storage_, &b.storage_, a.length_) == 0;
}

}  // namespace gyre::net

// SPDX-License-Identifier: Apache-2.0
// A socket address: IPv4, IPv6 or an abstract Unix name (no file, so nothing is left behind).
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/bytes.h"

namespace gyre::net {

class Address {
 public:
  Address() = default;  // no address: family() is AF_UNSPEC
  Address(const sockaddr* address, socklen_t length);

  static Address loopback_v4(std::uint16_t port);
  // Literal addresses only: "10.0.0.1", "fd00::1", "fe80::1%eth0". Names are never resolved here.
  static Result<Address> parse(std::string_view host, std::uint16_t port);
  // Name in Linux's abstract namespace, at most 107 bytes.
  static Result<Address> abstract_unix(std::string_view name);

  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] bool valid() const { return family() != AF_UNSPEC; }
  [[nodiscard]] bool is_loopback() const;
  [[nodiscard]] bool is_link_local() const;
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] Address with_port(std::uint16_t port) const;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t length() const { return length_; }
  // "10.0.0.1:4000", "[fd00::1]:4000", "unix:@name"
  [[nodiscard]] std::string to_string() const;

  // Inet addresses only: u8 family (4, 6; 0: none), u16 port, 16 bytes address (v4 in the first
  // four, the rest zero), u32 scope. 23 bytes.
  static constexpr std::size_t encoded_bytes = 23;
  void encode(ByteWriter& writer) const;
  static Address decode(ByteReader& reader);

  friend bool operator==(const Address& a, const Address& b);

 private:
  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

}  // namespace gyre::net

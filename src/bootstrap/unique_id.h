// SPDX-License-Identifier: Apache-2.0
// The 128 bytes that make a stranger a member of a job (docs/wire-format.md has the layout):
// where the root listens, an epoch that no other job has, and the secret.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/address.h"
#include "net/handshake.h"

namespace gyre::bootstrap {

struct UniqueId {
  static constexpr std::size_t encoded_bytes = 128;
  using Encoded = std::array<std::byte, encoded_bytes>;

  net::Address root;  // no address: an id for a communicator of one, which needs no network
  std::uint64_t epoch = 0;
  net::Secret secret{};

  // Random epoch and secret.
  static Result<UniqueId> create(const net::Address& root);
  // Epoch and secret derived from a secret that all ranks were given and the job's name, so that
  // every rank computes the same id without talking.
  static Result<UniqueId> derive(const net::Address& root, const net::Secret& job_secret,
                                 std::string_view job_name);

  [[nodiscard]] Encoded encode() const;
  static Result<UniqueId> decode(net::ByteView bytes);
  // 256 hex digits, for GYRE_COMM_ID. It holds the secret: never log it.
  [[nodiscard]] std::string to_hex() const;
  static Result<UniqueId> from_hex(std::string_view text);
};

// 64 hex digits (GYRE_JOB_SECRET).
Result<net::Secret> parse_secret(std::string_view hex);

}  // namespace gyre::bootstrap

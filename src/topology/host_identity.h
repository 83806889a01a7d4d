// SPDX-License-Identifier: Apache-2.0
// Who this process is to the machine it runs on: part of the card that ranks exchange, from which
// each decides with whom it can share memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gyre::topology {

struct HostIdentity {
  std::string host_id;  // GYRE_HOST_ID, else the kernel's boot id, else the host's name
  std::uint64_t network_namespace = 0;  // inode; 0: unknown. Abstract sockets live in it.
  std::uint32_t user = 0;
  std::string host_name;  // for people only
  std::string cpus;       // CPUs that the process may use, as "0-3,8"
  std::int32_t cpu = -1;  // where the calling thread ran; -1: unknown
  std::int64_t pid = 0;
  std::uint64_t pid_namespace = 0;  // inode; 0: unknown. `pid` means something only within it.

  friend bool operator==(const HostIdentity&, const HostIdentity&) = default;
};

// `host_id_override` is GYRE_HOST_ID. `root` is "" except in tests. Never fails: what /proc or
// /sys does not tell stays unknown.
[[nodiscard]] HostIdentity read_host_identity(std::string_view host_id_override = {},
                                              std::string_view root = {});

[[nodiscard]] bool can_share_memory(const HostIdentity& a, const HostIdentity& b);
// One sentence for the error text; empty when they can.
[[nodiscard]] std::string why_not_shared(const HostIdentity& a, const HostIdentity& b);

// Number of CPUs in a list such as "0-3,8"; 0 when it cannot be read.
[[nodiscard]] std::size_t count_cpus(std::string_view list);

// Versioned and length-checked; docs of the layout stand in host_identity.cpp.
[[nodiscard]] std::vector<std::byte> serialise(const HostIdentity& identity);
[[nodiscard]] Result<HostIdentity> parse_host_identity(std::span<const std::byte> bytes);

}  // namespace gyre::topology

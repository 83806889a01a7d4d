// SPDX-License-Identifier: Apache-2.0
// Which of this host's addresses other ranks should dial. Chosen from the interfaces themselves;
// resolving the host's own name often gives 127.0.1.1 and is never tried.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/address.h"

namespace gyre::net {

struct Interface {
  std::string name;
  Address address;  // port 0
  bool up = false;
  bool loopback = false;
  bool default_route = false;
};

// What the user asked for.
struct InterfaceFilter {
  std::string names;   // GYRE_SOCKET_IFNAME: "eth,ib" prefixes; "=eth0" exact; "^docker" excludes
  std::string family;  // GYRE_SOCKET_FAMILY: "", "AF_INET", "AF_INET6"
  // All ranks are known to be on this host: loopback is best, whatever the network looks like.
  bool this_host_only = false;
};

struct Candidate {
  Interface interface;
  int score = 0;       // negative: rejected
  std::string reason;  // why it was rejected or ranked so
};

// Every IPv4 and IPv6 address of this host.
Result<std::vector<Interface>> list_interfaces();

// Pure: best candidate first. A loopback address is taken only when all ranks are on this host, when
// nothing else is there (then they must be), or when it was asked for by name.
std::vector<Candidate> rank_interfaces(const std::vector<Interface>& all,
                                       const InterfaceFilter& filter);

// The address to advertise (port 0); the candidates and their reasons are logged at INFO. When none
// fits, the error lists every one with its reason.
Result<Address> choose_address(const InterfaceFilter& filter);

}  // namespace gyre::net

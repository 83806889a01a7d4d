// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/network.h"

#include <fmt/format.h>

namespace gyre::bootstrap {

Result<Network> Network::from(const Settings& settings) {
  if (!settings.socket_family.empty() && settings.socket_family != "AF_INET" &&
      settings.socket_family != "AF_INET6") {
    return fail(Code::invalid_argument,
                fmt::format("GYRE_SOCKET_FAMILY=\"{}\" is unknown: use AF_INET or AF_INET6.",
                            settings.socket_family));
  }
  Result<net::PortRange> ports = net::PortRange::parse(settings.port_range);
  if (!ports) {
    return Unexpected(ports.error());
  }
  return Network{{settings.socket_ifname, settings.socket_family}, *ports};
}

}  // namespace gyre::bootstrap

// SPDX-License-Identifier: Apache-2.0
// What the settings say about sockets, parsed once.
#pragma once

#include "base/settings.h"
#include "base/status.h"
#include "net/interfaces.h"
#include "net/socket.h"

namespace gyre::bootstrap {

struct Network {
  net::InterfaceFilter interfaces;
  net::PortRange ports;
  static Result<Network> from(const Settings& settings);
};

}  // namespace gyre::bootstrap

// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>

#include "base/settings.h"
#include "fuzz/target.h"

namespace gyre::fuzz {

// Lines of an environment.
void consume(net::ByteView bytes) {
  std::istringstream text{std::string(text_of(bytes))};
  std::vector<std::string> lines = {"GYRE_CONF_FILE=/nonexistent", "HOME=/nonexistent"};
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("GYRE_CONF_FILE") && !line.starts_with("HOME")) {
      lines.push_back(line.c_str());  // up to a zero byte, as in any environment
    }
  }
  std::vector<const char*> environment;
  for (const std::string& line : lines) {
    environment.push_back(line.c_str());
  }
  environment.push_back(nullptr);
  std::vector<std::string> warnings;
  const auto settings = read_settings(environment.data(), "/nonexistent", &warnings);
  if (settings) {
    require(!report_settings(*settings).empty());
  } else {
    require(settings.error().code == Code::invalid_argument ||
            settings.error().code == Code::invalid_usage ||
            settings.error().code == Code::system_error);
  }
}

std::vector<net::Bytes> seeds() {
  return {
      bytes_of("GYRE_DEBUG=INFO\nGYRE_ALGO=ring\nGYRE_CHUNK=65536\nGYRE_PORT_RANGE=1-2\n"
               "GYRE_SPIN_US=-1\nGYRE_SOCKET_IFNAME=^lo\nGYRE_DEBUG_SUBSYS=^NET,INIT\n")};
}

}  // namespace gyre::fuzz

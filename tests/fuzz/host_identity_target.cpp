// SPDX-License-Identifier: Apache-2.0
#include "fuzz/target.h"
#include "topology/host_identity.h"

namespace gyre::fuzz {

void consume(net::ByteView bytes) {
  static_cast<void>(topology::count_cpus(text_of(bytes)));
  if (const auto identity = topology::parse_host_identity(bytes)) {
    const auto again = topology::parse_host_identity(topology::serialise(*identity));
    require(again.has_value() && *again == *identity);
    require(topology::can_share_memory(*identity, *identity) ==
            topology::why_not_shared(*identity, *identity).empty());
  }
}

std::vector<net::Bytes> seeds() {
  return {topology::serialise({.host_id = "host", .host_name = "name", .cpus = "0-3,8"}),
          bytes_of("0-3,8"), bytes_of("1,2,3-7")};
}

}  // namespace gyre::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/unique_id.h"
#include "fuzz/target.h"

namespace gyre::fuzz {

void consume(net::ByteView bytes) {
  if (const auto id = bootstrap::UniqueId::decode(bytes)) {
    const auto again = bootstrap::UniqueId::decode(id->encode());
    require(again.has_value() && again->epoch == id->epoch && again->secret == id->secret);
  }
  if (const auto id = bootstrap::UniqueId::from_hex(text_of(bytes))) {
    require(bootstrap::UniqueId::from_hex(id->to_hex()).has_value());
  }
  static_cast<void>(bootstrap::parse_secret(text_of(bytes)));
}

std::vector<net::Bytes> seeds() {
  bootstrap::UniqueId id;
  id.epoch = 77;
  id.secret.fill(std::byte{3});
  const auto encoded = id.encode();
  return {{encoded.begin(), encoded.end()}, bytes_of(id.to_hex()), bytes_of(std::string(64, 'a'))};
}

}  // namespace gyre::fuzz

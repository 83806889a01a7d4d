// SPDX-License-Identifier: Apache-2.0
#include "fuzz/target.h"
#include "net/handshake.h"

namespace gyre::fuzz {
namespace {

net::Credentials credentials(std::uint32_t rank) {
  return {.secret = {},
          .epoch = 5,
          .purpose = net::Purpose::overlay,
          .rank = rank,
          .library_version = 100};
}

void talk_to(net::Handshake::Role role, net::ByteView bytes) {
  net::Handshake handshake(role, credentials(1));
  static_cast<void>(handshake.take_output());
  while (!bytes.empty() && handshake.state() == net::Handshake::State::running) {
    const std::size_t take = std::min(handshake.wanted(), bytes.size());
    require(take > 0);
    handshake.feed(bytes.first(take));
    bytes = bytes.subspan(take);
    static_cast<void>(handshake.take_output());
  }
  // The nonce is fresh: no input that was written down before can be right.
  require(handshake.state() != net::Handshake::State::done);
}

}  // namespace

void consume(net::ByteView bytes) {
  talk_to(net::Handshake::Role::initiator, bytes);
  talk_to(net::Handshake::Role::responder, bytes);
}

// One side of a conversation that went well, each.
std::vector<net::Bytes> seeds() {
  net::Handshake initiator(net::Handshake::Role::initiator, credentials(0));
  net::Handshake responder(net::Handshake::Role::responder, credentials(1));
  net::Bytes from_initiator = initiator.take_output();
  responder.feed(from_initiator);
  const net::Bytes from_responder = responder.take_output();
  initiator.feed(from_responder);
  const net::Bytes proof = initiator.take_output();
  from_initiator.insert(from_initiator.end(), proof.begin(), proof.end());
  return {from_initiator, from_responder};
}

}  // namespace gyre::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "net/handshake.h"

#include <sodium.h>

#include <fmt/format.h>

#include "net/socket.h"

namespace gyre::net {
namespace {

// Layout of a hello. It is frozen: also ranks of very different versions must be able to prove
// themselves and then to say which versions they are.
//   0  4  magic "GYRH"      8  8  epoch             24 32  nonce
//   4  2  layout, 1        16  4  claimed rank      56  8  zero
//   6  1  purpose          20  4  library version
//   7  1  role: 0 initiator, 1 responder
constexpr std::uint32_t hello_magic = 0x48525947;  // "GYRH" in memory order
constexpr std::uint16_t hello_layout = 1;
constexpr std::size_t nonce_bytes = 32;

static_assert(Handshake::mac_bytes == crypto_auth_BYTES);
static_assert(secret_bytes == crypto_auth_KEYBYTES);

const unsigned char* raw(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

Handshake::Handshake(Role role, const Credentials& mine) : role_(role), mine_(mine) {
  std::array<std::byte, nonce_bytes> nonce{};
  if (sodium_init() < 0) {
    fail("libsodium could not be initialised on this side");
    return;
  }
  randombytes_buf(nonce.data(), nonce.size());
  my_hello_ = make_hello(nonce);
  if (role_ == Role::initiator) {
    output_ = my_hello_;
    wanted_ = hello_bytes + mac_bytes;
  } else {
    wanted_ = hello_bytes;
  }
}

Bytes Handshake::make_hello(ByteView nonce) const {
  ByteWriter writer;
  writer.u32(hello_magic);
  writer.u16(hello_layout);
  writer.u8(static_cast<std::uint8_t>(mine_.purpose));
  writer.u8(static_cast<std::uint8_t>(role_));
  writer.u64(mine_.epoch);
  writer.u32(mine_.rank);
  writer.u32(mine_.library_version);
  writer.raw(nonce);
  writer.u64(0);
  return writer.take();
}

// Over both hellos in full, so that everything they claim is bound to both nonces.
Handshake::Mac Handshake::prove(Role role) const {
  ByteWriter writer;
  writer.text(role == Role::initiator ? "gyre handshake initiator" : "gyre handshake responder");
  writer.raw(role_ == Role::initiator ? my_hello_ : peer_hello_);
  writer.raw(role_ == Role::initiator ? peer_hello_ : my_hello_);
  Mac mac{};
  crypto_auth(reinterpret_cast<unsigned char*>(mac.data()), raw(writer.view()), writer.size(),
              raw(mine_.secret));
  return mac;
}

void Handshake::feed(ByteView bytes) {
  if (state_ != State::running) {
    return;
  }
  input_.insert(input_.end(), bytes.begin(), bytes.end());
  if (input_.size() >= wanted_) {
    const Bytes message = std::move(input_);
    input_.clear();
    advance(message);
  }
}

void Handshake::advance(ByteView message) {
  if (role_ == Role::initiator) {
    on_answer_of_responder(message);
  } else if (!hello_seen_) {
    on_hello_of_initiator(message);
  } else {
    on_proof_of_initiator(message);
  }
}

void Handshake::on_hello_of_initiator(ByteView message) {
  if (!accept_hello(message)) {
    return;
  }
  const Mac mac = prove(Role::responder);
  output_ = my_hello_;
  output_.insert(output_.end(), mac.begin(), mac.end());
  wanted_ = mac_bytes;
}

void Handshake::on_answer_of_responder(ByteView message) {
  if (!accept_hello(message.first(hello_bytes))) {
    return;
  }
  const Mac expected = prove(Role::responder);
  if (crypto_verify_32(raw(message.subspan(hello_bytes)), raw(expected)) != 0) {
    fail("it does not know the secret of this job");
    return;
  }
  const Mac mac = prove(Role::initiator);
  output_.assign(mac.begin(), mac.end());
  wanted_ = 0;
  state_ = State::done;
}

void Handshake::on_proof_of_initiator(ByteView message) {
  const Mac expected = prove(Role::initiator);
  if (crypto_verify_32(raw(message), raw(expected)) != 0) {
    fail("it does not know the secret of this job");
    return;
  }
  wanted_ = 0;
  state_ = State::done;
}

// Only what decides whether a proof is worth checking; nothing is believed before it is proven.
bool Handshake::accept_hello(ByteView hello) {
  ByteReader reader(hello);
  if (reader.u32() != hello_magic || reader.u16() != hello_layout) {
    fail("its first bytes are not those of a Gyre handshake");
    return false;
  }
  const std::uint8_t purpose = reader.u8();
  const std::uint8_t role = reader.u8();
  const std::uint64_t epoch = reader.u64();
  peer_.rank = reader.u32();
  peer_.library_version = reader.u32();
  if (role == static_cast<std::uint8_t>(role_)) {
    fail("it claims our own role");
    return false;
  }
  if (epoch != mine_.epoch) {
    fail("it belongs to another job or to an earlier start of this one");
    return false;
  }
  if (purpose != static_cast<std::uint8_t>(mine_.purpose)) {
    fail(fmt::format("it came for purpose {}, this socket is for purpose {}", purpose,
                     static_cast<int>(mine_.purpose)));
    return false;
  }
  peer_hello_.assign(hello.begin(), hello.end());
  hello_seen_ = true;
  return true;
}

void Handshake::fail(std::string reason) {
  state_ = State::failed;
  reason_ = std::move(reason);
  output_.clear();
  wanted_ = 0;
}

Result<PeerIdentity> shake_hands(int fd, Handshake::Role role, const Credentials& mine,
                                 Deadline deadline) {
  Handshake handshake(role, mine);
  while (true) {
    if (const Bytes output = handshake.take_output(); !output.empty()) {
      GYRE_TRY(write_all(fd, output, deadline));
    }
    if (handshake.state() != Handshake::State::running) {
      break;
    }
    Bytes input(handshake.wanted());
    GYRE_TRY(read_exactly(fd, input, deadline));
    handshake.feed(input);
  }
  if (handshake.state() == Handshake::State::failed) {
    return gyre::fail(
        Code::invalid_usage,
        fmt::format("The process that answered is no member of this job: {}.", handshake.reason()));
  }
  return handshake.peer();
}

std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Error version_mismatch(std::uint32_t mine, std::uint32_t theirs, const std::string& who) {
  return Error{Code::invalid_argument,
               fmt::format("This process runs Gyre {} and {} runs Gyre {}. All ranks of a "
                           "communicator must load the same version: check LD_LIBRARY_PATH and the "
                           "installations of both hosts.",
                           version_text(mine), who, version_text(theirs))};
}

}  // namespace gyre::net

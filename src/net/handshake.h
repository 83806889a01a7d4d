// SPDX-License-Identifier: Apache-2.0
// Both ends of a connection prove that they know the job's secret, before either interprets
// another byte. Three messages (docs/wire-format.md has them byte by byte):
//
//   initiator -> responder   hello_i
//   responder -> initiator   hello_r, MAC(secret, "responder", hello_i, hello_r)
//   initiator -> responder   MAC(secret, "initiator", hello_i, hello_r)
//
// A hello holds purpose, epoch, claimed rank, library version and a fresh random nonce; so a proof
// cannot be replayed, reflected, or used for another purpose, rank or epoch.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "net/bytes.h"
#include "net/deadline.h"

namespace gyre::net {

inline constexpr std::size_t secret_bytes = 32;
using Secret = std::array<std::byte, secret_bytes>;

// What the connection is for.
enum class Purpose : std::uint8_t {
  check_in = 1,   // a rank to the root
  overlay = 2,    // control link between two ranks
  transport = 3,  // data or memory descriptors between two ranks
};

struct Credentials {
  Secret secret{};
  std::uint64_t epoch = 0;
  Purpose purpose = Purpose::check_in;
  std::uint32_t rank = 0;             // that we claim; root_rank for the root
  std::uint32_t library_version = 0;  // 10000 * major + 100 * minor + patch
};
inline constexpr std::uint32_t root_rank = 0xffffffffu;

// Who is at the other end: proven, but for the rank, which any holder of the secret may claim.
struct PeerIdentity {
  std::uint32_t rank = 0;
  std::uint32_t library_version = 0;
};

// The exchange as a pure state machine: bytes in, bytes out.
class Handshake {
 public:
  enum class Role : std::uint8_t { initiator, responder };
  enum class State : std::uint8_t { running, done, failed };

  static constexpr std::size_t hello_bytes = 64;
  static constexpr std::size_t mac_bytes = 32;

  Handshake(Role role, const Credentials& mine);

  // How many bytes to read next; never more than belong to the handshake.
  [[nodiscard]] std::size_t wanted() const { return wanted_ - input_.size(); }
  // Takes up to wanted() bytes. After it look at take_output() and state().
  void feed(ByteView bytes);
  // What must be sent now; the initiator has something before the first feed.
  [[nodiscard]] Bytes take_output() { return std::move(output_); }
  [[nodiscard]] State state() const { return state_; }
  // When failed: why, without a word of what the stranger should have known.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const PeerIdentity& peer() const { return peer_; }

 private:
  using Mac = std::array<std::byte, mac_bytes>;
  [[nodiscard]] Bytes make_hello(ByteView nonce) const;
  [[nodiscard]] Mac prove(Role role) const;
  [[nodiscard]] bool accept_hello(ByteView hello);
  void advance(ByteView message);
  void on_hello_of_initiator(ByteView message);
  void on_answer_of_responder(ByteView message);
  void on_proof_of_initiator(ByteView message);
  void fail(std::string reason);

  Role role_;
  Credentials mine_;
  State state_ = State::running;
  std::size_t wanted_ = 0;
  bool hello_seen_ = false;
  Bytes my_hello_, peer_hello_, input_, output_;
  PeerIdentity peer_;
  std::string reason_;
};

// The blocking form, for either role, on a non-blocking socket. Fails with timeout, remote_error
// (the other end closed) or invalid_usage (it is no member of this job). Compare the library
// version yourself. Not on a loop thread.
Result<PeerIdentity> shake_hands(int fd, Handshake::Role role, const Credentials& mine,
                                 Deadline deadline);

// The error when two members of one job run different versions of the library.
Error version_mismatch(std::uint32_t mine, std::uint32_t theirs, const std::string& who);
// "0.1.0"
std::string version_text(std::uint32_t version);

}  // namespace gyre::net

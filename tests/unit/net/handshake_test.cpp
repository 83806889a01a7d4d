// SPDX-License-Identifier: Apache-2.0
#include "net/handshake.h"

#include <gmock/gmock.h>

#include <array>
#include <functional>

namespace gyre::net {
namespace {

using ::testing::HasSubstr;
using State = Handshake::State;
using Role = Handshake::Role;

Credentials member(std::uint32_t rank, std::uint32_t version = 100) {
  Credentials credentials;
  credentials.secret.fill(std::byte{0x5a});
  credentials.epoch = 77;
  credentials.purpose = Purpose::overlay;
  credentials.rank = rank;
  credentials.library_version = version;
  return credentials;
}

using Tamper = std::function<void(Bytes&)>;

// Runs the three messages; each may be changed on its way. Returns both final states.
std::pair<State, State> converse(Handshake& initiator, Handshake& responder, int tampered = 0,
                                 const Tamper& tamper = {}) {
  Handshake* from = &initiator;
  Handshake* to = &responder;
  for (int message = 1; message <= 3; ++message) {
    Bytes bytes = from->take_output();
    if (message == tampered) {
      tamper(bytes);
    }
    to->feed(bytes);
    std::swap(from, to);
  }
  return {initiator.state(), responder.state()};
}

TEST(Handshake, MembersLearnEachOthersRankAndVersion) {
  Handshake initiator(Role::initiator, member(3, 100));
  Handshake responder(Role::responder, member(5, 200));
  EXPECT_EQ(converse(initiator, responder), std::pair(State::done, State::done));
  EXPECT_EQ(initiator.peer().rank, 5u);
  EXPECT_EQ(initiator.peer().library_version, 200u);
  EXPECT_EQ(responder.peer().rank, 3u);
  EXPECT_EQ(responder.peer().library_version, 100u);
  EXPECT_EQ(initiator.wanted(), 0u);
  EXPECT_EQ(responder.wanted(), 0u);
}

TEST(Handshake, WorksByteByByte) {
  Handshake initiator(Role::initiator, member(0));
  Handshake responder(Role::responder, member(1));
  Handshake* from = &initiator;
  Handshake* to = &responder;
  for (int message = 0; message < 3; ++message) {
    for (const std::byte byte : from->take_output()) {
      ASSERT_GT(to->wanted(), 0u);
      to->feed({&byte, 1});
    }
    std::swap(from, to);
  }
  EXPECT_EQ(initiator.state(), State::done);
  EXPECT_EQ(responder.state(), State::done);
}

TEST(Handshake, AnotherSecretIsNoticedByBoth) {
  Credentials stranger = member(0);
  stranger.secret[31] ^= std::byte{1};
  Handshake initiator(Role::initiator, stranger);
  Handshake responder(Role::responder, member(1));
  EXPECT_EQ(converse(initiator, responder), std::pair(State::failed, State::running));
  EXPECT_THAT(initiator.reason(), HasSubstr("does not know the secret"));

  // One that goes on regardless is refused by the responder.
  Handshake bold(Role::initiator, stranger);
  Handshake asked(Role::responder, member(1));
  asked.feed(bold.take_output());
  static_cast<void>(asked.take_output());
  asked.feed(Bytes(asked.wanted(), std::byte{0xaa}));
  EXPECT_EQ(asked.state(), State::failed);
  EXPECT_THAT(asked.reason(), HasSubstr("does not know the secret"));
}

TEST(Handshake, EveryBitOfEveryMessageIsBound) {
  const std::array<std::size_t, 3> lengths = {
      Handshake::hello_bytes, Handshake::hello_bytes + Handshake::mac_bytes, Handshake::mac_bytes};
  for (int message = 1; message <= 3; ++message) {
    for (std::size_t bit = 0; bit < 8 * lengths[static_cast<std::size_t>(message - 1)]; ++bit) {
      Handshake initiator(Role::initiator, member(0));
      Handshake responder(Role::responder, member(1));
      const auto states = converse(initiator, responder, message, [bit](Bytes& bytes) {
        if (bit / 8 < bytes.size()) {
          bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
        }
      });
      ASSERT_FALSE(states == std::pair(State::done, State::done))
          << "message " << message << ", bit " << bit;
      ASSERT_NE(states.second, State::done) << "the responder believes nothing that was changed";
    }
  }
}

TEST(Handshake, AnOldConversationCannotBeReplayed) {
  Handshake initiator(Role::initiator, member(0));
  Handshake responder(Role::responder, member(1));
  const Bytes hello = initiator.take_output();
  responder.feed(hello);
  initiator.feed(responder.take_output());
  const Bytes proof = initiator.take_output();
  responder.feed(proof);
  ASSERT_EQ(responder.state(), State::done);

  Handshake again(Role::responder, member(1));
  again.feed(hello);
  static_cast<void>(again.take_output());
  again.feed(proof);
  EXPECT_EQ(again.state(), State::failed);
}

TEST(Handshake, AReflectedHelloIsRefused) {
  Handshake initiator(Role::initiator, member(0));
  Bytes mirror = initiator.take_output();
  mirror.resize(initiator.wanted());
  initiator.feed(mirror);
  EXPECT_EQ(initiator.state(), State::failed);
  EXPECT_THAT(initiator.reason(), HasSubstr("our own role"));
}

TEST(Handshake, EpochAndPurposeMustBeEqual) {
  for (const bool epoch : {true, false}) {
    Credentials other = member(0);
    other.epoch += epoch ? 1 : 0;
    other.purpose = epoch ? Purpose::overlay : Purpose::transport;
    Handshake initiator(Role::initiator, other);
    Handshake responder(Role::responder, member(1));
    responder.feed(initiator.take_output());
    EXPECT_EQ(responder.state(), State::failed);
    EXPECT_TRUE(responder.take_output().empty()) << "a stranger gets no answer";
    EXPECT_THAT(responder.reason(), HasSubstr(epoch ? "another job" : "purpose"));
  }
}

TEST(Handshake, GarbageIsRefusedWithoutAnAnswer) {
  Handshake responder(Role::responder, member(1));
  responder.feed(Bytes(Handshake::hello_bytes, std::byte{'G'}));
  EXPECT_EQ(responder.state(), State::failed);
  EXPECT_TRUE(responder.take_output().empty());
}

TEST(Handshake, VersionMismatchNamesBoth) {
  const Error error = version_mismatch(100, 20305, "rank 4");
  EXPECT_THAT(error.message, HasSubstr("0.1.0"));
  EXPECT_THAT(error.message, HasSubstr("rank 4 runs Gyre 2.3.5"));
}

}  // namespace
}  // namespace gyre::net

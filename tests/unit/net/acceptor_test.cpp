// SPDX-License-Identifier: Apache-2.0
#include "net/acceptor.h"

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "unit/net/strangers.h"

namespace gyre::net {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

Credentials member(std::uint32_t rank) {
  Credentials credentials;
  credentials.secret.fill(std::byte{0x11});
  credentials.epoch = 5;
  credentials.purpose = Purpose::overlay;
  credentials.rank = rank;
  credentials.library_version = 100;
  return credentials;
}

class AcceptorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(loop.start());
    start(10s);
  }
  void start(Clock::duration handshake_limit) {
    acceptor.reset();
    auto listener = listen_on(Address::loopback_v4(0));
    ASSERT_TRUE(listener);
    auto started = Acceptor::start(
        loop, std::move(*listener), member(9),
        [this](UniqueFd, const PeerIdentity& peer, const Address&) { ranks.push_back(peer.rank); },
        handshake_limit);
    ASSERT_TRUE(started);
    acceptor = std::move(*started);
  }
  Result<UniqueFd> dial_as(std::uint32_t rank) {
    return dial(acceptor->address(), member(rank), 9, after(10s));
  }
  EventLoop loop;
  std::vector<std::uint32_t> ranks;  // admitted; loop thread
  std::unique_ptr<Acceptor> acceptor;
};

TEST_F(AcceptorTest, AdmitsMembersAmongStrangersOfEveryKind) {
  testing::Stranger stranger;
  for (std::uint32_t round = 0; round < 60; ++round) {
    stranger.disturb(acceptor->address(), static_cast<int>(round));
    const auto fd = dial_as(round);
    ASSERT_TRUE(fd) << fd.error().message;
  }
  loop.run([&] { EXPECT_EQ(ranks.size(), 60u); });
  // All but the silent ones are found out at once; the counter has no fixed moment to be read at.
  const auto deadline = after(5s);
  while (acceptor->strangers() < 50 && Clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(acceptor->strangers(), 50u);
}

TEST_F(AcceptorTest, DropsTheSilentAfterTheLimitAndKeepsNobodyWaiting) {
  start(50ms);
  testing::Stranger stranger;
  for (int i = 0; i < 20; ++i) {
    stranger.disturb(acceptor->address(), 4);
  }
  ASSERT_TRUE(dial_as(1));
  const auto deadline = after(5s);
  while (acceptor->strangers() < 20 && Clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(acceptor->strangers(), 20u);
}

TEST_F(AcceptorTest, TellsTheDiallerThatAnotherRankAnswered) {
  const auto fd = dial(acceptor->address(), member(1), 4, after(5s));
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, Code::invalid_usage);
  EXPECT_THAT(fd.error().message, HasSubstr("Rank 9 answered where rank 4 was expected"));
}

TEST_F(AcceptorTest, TellsTheDiallerOfAnotherVersion) {
  Credentials newer = member(1);
  newer.library_version = 20000;
  const auto fd = dial(acceptor->address(), newer, 9, after(5s));
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, Code::invalid_argument);
  EXPECT_THAT(fd.error().message, HasSubstr("runs Gyre 2.0.0 and rank 9 runs Gyre 0.1.0"));
}

TEST_F(AcceptorTest, ADiallerRetriesUntilSomebodyListensOrItsDeadline) {
  const Address address = acceptor->address();
  acceptor.reset();
  const auto refused = dial(address, member(1), 9, after(100ms));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::timeout);
  EXPECT_THAT(refused.error().message, HasSubstr(address.to_string()));

  auto dialled = std::async(std::launch::async,
                            [&] { return dial(address, member(1), 9, after(10s)).has_value(); });
  auto listener = listen_on(address);
  ASSERT_TRUE(listener) << listener.error().message;
  auto late = Acceptor::start(loop, std::move(*listener), member(9),
                              [](UniqueFd, const PeerIdentity&, const Address&) {});
  ASSERT_TRUE(late);
  EXPECT_TRUE(dialled.get());
}

TEST_F(AcceptorTest, AnImpostorIsNotTakenForAMember) {
  auto listener = listen_on(Address::loopback_v4(0));
  ASSERT_TRUE(listener);
  Credentials impostor = member(9);
  impostor.secret.fill(std::byte{0x12});
  auto fake = Acceptor::start(loop, std::move(*listener), impostor,
                              [](UniqueFd, const PeerIdentity&, const Address&) { FAIL(); });
  ASSERT_TRUE(fake);
  const auto fd = dial((*fake)->address(), member(1), 9, after(5s));
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, Code::invalid_usage);
  EXPECT_THAT(fd.error().message, HasSubstr("does not know the secret"));
}

TEST(Sockets, PortsComeOutOfTheRangeAndAnExhaustedOneIsNamed) {
  const auto probe = listen_on(Address::loopback_v4(0));
  ASSERT_TRUE(probe);
  const std::uint16_t port = probe->address.port();
  const PortRange taken{port, port};
  const auto refused = listen_on(Address::loopback_v4(0), taken);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("GYRE_PORT_RANGE=" + std::to_string(port) + "-" + std::to_string(port)));

  const auto range = PortRange::parse("47100-47120");
  ASSERT_TRUE(range);
  const auto listener = listen_on(Address::loopback_v4(0), *range);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_GE(listener->address.port(), 47100);
  EXPECT_LE(listener->address.port(), 47120);
}

TEST(Sockets, MalformedPortRangesAreRefused) {
  for (const char* text : {"1", "-", "5-", "-5", "9-3", "0-4", "1-70000", "a-b", "1-2x", "1-2-3"}) {
    const auto range = PortRange::parse(text);
    ASSERT_FALSE(range) << text;
    EXPECT_THAT(range.error().message, HasSubstr(text));
  }
  EXPECT_EQ(PortRange::parse("")->first, 0);
}

TEST(Sockets, ReadingGivesUpAtItsDeadline) {
  auto listener = listen_on(Address::loopback_v4(0));
  const auto fd = connect_to(listener->address, after(1s));
  ASSERT_TRUE(fd);
  std::array<std::byte, 1> byte{};
  const Status read = read_exactly(fd->get(), byte, after(20ms));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::timeout);
}

TEST(Sockets, KnowTheProcessBehindAUnixSocket) {
  const auto name = Address::abstract_unix("gyre-test-" + std::to_string(::getpid()));
  auto listener = listen_on(*name);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_THAT(listener->address.to_string(), HasSubstr("unix:@gyre-test-"));
  const auto fd = connect_to(*name, after(1s));
  ASSERT_TRUE(fd);
  const auto peer = peer_process(fd->get());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_EQ(peer->uid, ::geteuid());
}

}  // namespace
}  // namespace gyre::net

// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/fd_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/region_allocator.h"
#include "net/socket.h"
#include "transport/shm/fd_client.h"
#include "unit/memory/process_state.h"

namespace gyre::shm {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr std::uint64_t epoch = 77;
constexpr std::uint64_t segment_id = 5;

constexpr std::uint32_t version = 100;

net::Credentials credentials(std::uint32_t rank, int seed = 1, std::uint64_t of_epoch = epoch) {
  net::Credentials mine;
  mine.secret.fill(static_cast<std::byte>(seed));
  mine.epoch = of_epoch;
  mine.purpose = net::Purpose::transport;
  mine.rank = rank;
  mine.library_version = version;
  return mine;
}

std::shared_ptr<const SharedSegment> make_segment(char first) {
  auto segment = SharedSegment::create(3 * page_bytes(), "test");
  EXPECT_TRUE(segment);
  segment->data()[0] = static_cast<std::byte>(first);
  return std::make_shared<const SharedSegment>(std::move(*segment));
}

class FdServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(loop_.start());
    auto server = FdServer::start(loop_, regions_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    ASSERT_TRUE(server_->join(credentials(0)));
    ASSERT_TRUE(server_->offer(epoch, 0, segment_id, make_segment('a')));
  }

  [[nodiscard]] FetchRequest request(std::uint64_t id = segment_id) const {
    FetchRequest request;
    request.address = server_->address();
    request.mine = credentials(1);
    request.owner = 0;
    request.name = {ObjectKind::segment, id};
    request.deadline = net::after(20s);
    return request;
  }

  [[nodiscard]] UniqueFd connect() const {
    const auto name = net::Address::abstract_unix(socket_name(server_->address(), epoch, 0));
    auto fd = net::connect_to(*name, net::after(20s));
    EXPECT_TRUE(fd);
    return std::move(*fd);
  }

  // Until the server has closed the connection.
  static bool is_closed(int fd) {
    std::array<std::byte, 256> ignored{};
    for (;;) {
      if (!net::wait_for(fd, POLLIN, net::after(20s)).value_or(false)) {
        return false;
      }
      if (::recv(fd, ignored.data(), ignored.size(), 0) <= 0) {
        return true;
      }
    }
  }

  RegionTable regions_;
  net::EventLoop loop_;
  std::unique_ptr<FdServer> server_;
};

TEST_F(FdServerTest, HandsOverASegment) {
  auto fetched = fetch(request());
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(fetched->bytes, 3 * page_bytes());
  EXPECT_EQ(::fcntl(fetched->fd.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  const auto mapping = PeerMapping::map(std::move(fetched->fd), fetched->bytes, Access::read);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->data()[0], std::byte{'a'});
  EXPECT_EQ(server_->statistics().served, 1u);
  EXPECT_EQ(server_->statistics().dropped, 0u);
}

TEST_F(FdServerTest, HandsOverARegionAsLongAsItExists) {
  RegionAllocator allocator(regions_);
  void* pointer = allocator.allocate(10'000).value();
  std::memset(pointer, 'r', 10'000);
  FetchRequest asked = request();
  asked.name = {ObjectKind::region, regions_.find(pointer, 1)->id};
  auto fetched = fetch(asked);
  ASSERT_TRUE(fetched) << fetched.error().message;
  const auto mapping = PeerMapping::map(std::move(fetched->fd), fetched->bytes, Access::read_write);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->data()[9'999], std::byte{'r'});
  ASSERT_TRUE(allocator.free(pointer));
  const auto gone = fetch(asked);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::remote_error);
  EXPECT_THAT(gone.error().message, HasSubstr("rank 0"));
  EXPECT_EQ(server_->statistics().refused, 1u);
}

TEST_F(FdServerTest, RefusesWhatIsNotOfferedOrNoLonger) {
  EXPECT_EQ(fetch(request(segment_id + 1)).error().code, Code::remote_error);
  server_->withdraw(epoch, 0, segment_id);
  EXPECT_EQ(fetch(request()).error().code, Code::remote_error);
  EXPECT_TRUE(server_->offer(epoch, 0, segment_id, make_segment('b')));
  EXPECT_TRUE(fetch(request()));
  EXPECT_FALSE(server_->offer(epoch, 0, segment_id, make_segment('c')));
  EXPECT_FALSE(server_->offer(epoch, 1, segment_id, make_segment('c')));
}

TEST_F(FdServerTest, KeepsRanksAndEpochsApart) {
  ASSERT_TRUE(server_->join(credentials(3)));
  ASSERT_TRUE(server_->join(credentials(0, 2, epoch + 1)));
  ASSERT_TRUE(server_->offer(epoch, 3, segment_id, make_segment('3')));
  ASSERT_TRUE(server_->offer(epoch + 1, 0, segment_id, make_segment('n')));
  EXPECT_FALSE(server_->join(credentials(3)));
  FetchRequest asked = request();
  asked.owner = 3;
  auto fetched = fetch(asked);
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(PeerMapping::map(std::move(fetched->fd), fetched->bytes, Access::read)->data()[0],
            std::byte{'3'});
  asked = request();
  asked.mine = credentials(1, 2, epoch + 1);
  fetched = fetch(asked);
  ASSERT_TRUE(fetched);
  EXPECT_EQ(PeerMapping::map(std::move(fetched->fd), fetched->bytes, Access::read)->data()[0],
            std::byte{'n'});
}

TEST_F(FdServerTest, WrongSecretGetsNothing) {
  FetchRequest asked = request();
  asked.mine = credentials(1, 9);
  const auto fetched = fetch(asked);
  ASSERT_FALSE(fetched);
  EXPECT_THAT(fetched.error().message, HasSubstr("no member"));
  EXPECT_EQ(server_->statistics().served, 0u);
  EXPECT_TRUE(fetch(request()));
}

TEST_F(FdServerTest, AnotherVersionOfTheLibraryIsToldSo) {
  FetchRequest asked = request();
  asked.mine.library_version = version + 1;
  const auto fetched = fetch(asked);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, Code::invalid_argument);
  EXPECT_THAT(fetched.error().message, HasSubstr("0.1.1"));
}

TEST_F(FdServerTest, StrangersAreDroppedAndKeepNobodyWaiting) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 50; ++i) {
    silent.push_back(connect());
  }
  const UniqueFd talker = connect();
  const std::string noise(4096, 'x');
  ASSERT_GT(::send(talker.get(), noise.data(), noise.size(), MSG_NOSIGNAL), 0);
  ASSERT_TRUE(fetch(request()));
  EXPECT_TRUE(is_closed(talker.get()));
  EXPECT_GE(server_->statistics().dropped, 1u);
  ASSERT_TRUE(fetch(request()));
}

TEST_F(FdServerTest, AMemberThatBreaksTheProtocolIsDropped) {
  const UniqueFd peer = connect();
  ASSERT_TRUE(net::shake_hands(peer.get(), net::Handshake::Role::initiator, credentials(1),
                               net::after(20s)));
  const std::array<std::byte, request_bytes> nonsense{};
  ASSERT_TRUE(net::write_all(peer.get(), nonsense, net::after(20s)));
  EXPECT_TRUE(is_closed(peer.get()));
  EXPECT_EQ(server_->statistics().dropped, 1u);
  EXPECT_EQ(server_->statistics().served, 0u);
}

TEST_F(FdServerTest, ARequestMayComeInPieces) {
  const UniqueFd peer = connect();
  ASSERT_TRUE(net::shake_hands(peer.get(), net::Handshake::Role::initiator, credentials(1),
                               net::after(20s)));
  const net::Bytes asked = encode_request({ObjectKind::segment, segment_id});
  for (const std::byte& byte : asked) {
    ASSERT_TRUE(net::write_all(peer.get(), std::span(&byte, 1), net::after(20s)));
    loop_.run([] {});  // the loop has seen it, most likely, before the next one comes
  }
  std::array<std::byte, reply_bytes> reply{};
  ASSERT_TRUE(net::read_exactly(peer.get(), reply, net::after(20s)));
  EXPECT_EQ(decode_reply(reply)->answer, Answer::granted);
}

TEST_F(FdServerTest, NobodyThereEndsAtTheDeadline) {
  FetchRequest asked = request();
  server_.reset();
  asked.deadline = net::after(100ms);
  const auto fetched = fetch(asked);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, Code::timeout);
  EXPECT_THAT(fetched.error().message, HasSubstr("rank 0"));
}

TEST_F(FdServerTest, ASilentServerEndsAtTheDeadlineOrByInterruption) {
  // Somebody listens and never answers, as a stopped process.
  FetchRequest asked = request();
  asked.address = "gyre-test-silent-" + std::to_string(::getpid());
  const auto name = net::Address::abstract_unix(socket_name(asked.address, epoch, 0));
  const auto listener = net::listen_on(*name);
  ASSERT_TRUE(listener);
  asked.deadline = net::after(100ms);
  EXPECT_EQ(fetch(asked).error().code, Code::timeout);
  asked.deadline = net::after(60s);
  int calls = 0;
  asked.interrupted = [&calls] { return ++calls > 3; };
  EXPECT_EQ(fetch(asked).error().code, Code::aborted);
}

TEST_F(FdServerTest, InOneProcessTheOwnersMappingItselfIsUsed) {
  const auto segment = make_segment('l');
  ASSERT_TRUE(server_->offer(epoch, 0, 9, segment));
  const auto mapping = fetch_mapping(*server_, request(9), segment->bytes(), Access::read_write);
  ASSERT_TRUE(mapping);
  EXPECT_TRUE(mapping->is_local());
  EXPECT_EQ(mapping->data(), segment->data());
  EXPECT_FALSE(fetch_mapping(*server_, request(9), 1, Access::read));
  EXPECT_FALSE(fetch_mapping(*server_, request(10), 0, Access::read));

  RegionAllocator allocator(regions_);
  void* pointer = allocator.allocate(100).value();
  FetchRequest asked = request();
  asked.name = {ObjectKind::region, regions_.find(pointer, 1)->id};
  EXPECT_EQ(fetch_mapping(*server_, asked, 0, Access::read)->data(), pointer);
  EXPECT_EQ(server_->statistics().served, 0u);
}

TEST_F(FdServerTest, LocalMappingsSurviveThatTheOwnerLeaves) {
  const auto mapping = fetch_mapping(*server_, request(), 0, Access::read);
  ASSERT_TRUE(mapping);
  server_->leave(epoch, 0);
  EXPECT_EQ(mapping->data()[0], std::byte{'a'});
  EXPECT_FALSE(server_->find_local(epoch, 0, {ObjectKind::segment, segment_id}));
  server_->leave(epoch, 0);
  EXPECT_TRUE(server_->join(credentials(0)));
}

TEST_F(FdServerTest, ManyClientsAtOnce) {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    threads.emplace_back([this, rank, &good] {
      for (int i = 0; i < 20; ++i) {
        FetchRequest asked = request();
        asked.mine = credentials(rank);
        good.fetch_add(fetch(asked) ? 1 : 0, std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(good.load(), 160);
  EXPECT_EQ(server_->statistics().served, 160u);
}

TEST_F(FdServerTest, ServingLeavesNoDescriptorsOpen) {
  ASSERT_TRUE(fetch(request()));
  loop_.run([] {});
  const std::size_t before = test::open_descriptors();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(fetch(request()));
    ASSERT_FALSE(fetch(request(segment_id + 1)));
  }
  loop_.run([] {});
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST_F(FdServerTest, TheServerMayGoWhileAPeerIsInConversation) {
  const UniqueFd peer = connect();
  ASSERT_TRUE(net::shake_hands(peer.get(), net::Handshake::Role::initiator, credentials(1),
                               net::after(20s)));
  server_.reset();
  EXPECT_TRUE(is_closed(peer.get()));
}

// Two processes, as in a job: the child owns the memory and serves it, then is killed; what the
// parent has mapped stays, and nothing is left in /dev/shm.
TEST(FdServerProcesses, MemoryOfAKilledPeerStaysReadable) {
  const std::size_t leftovers = test::entries_of("/dev/shm");
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    RegionTable regions;
    net::EventLoop loop;
    auto server = loop.start() ? FdServer::start(loop, regions)
                               : Result<std::unique_ptr<FdServer>>(fail(Code::internal_error, ""));
    if (!server || !(*server)->join(credentials(0)) ||
        !(*server)->offer(epoch, 0, segment_id, make_segment('k'))) {
      ::_exit(1);
    }
    const std::string& address = (*server)->address();
    (void)!::write(pipe[1], address.data(), address.size());
    ::close(pipe[1]);
    for (;;) {
      ::pause();
    }
  }
  ::close(pipe[1]);
  std::array<char, 256> address{};
  const ssize_t length = ::read(pipe[0], address.data(), address.size());
  ::close(pipe[0]);
  ASSERT_GT(length, 0);
  FetchRequest request;
  request.address = std::string(address.data(), static_cast<std::size_t>(length));
  request.mine = credentials(1);
  request.owner = 0;
  request.name = {ObjectKind::segment, segment_id};
  request.deadline = net::after(20s);
  auto fetched = fetch(request);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(fetched) << fetched.error().message;
  const auto mapping = PeerMapping::map(std::move(fetched->fd), fetched->bytes, Access::read_write);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->data()[0], std::byte{'k'});
  mapping->data()[1] = std::byte{1};
  EXPECT_EQ(test::entries_of("/dev/shm"), leftovers);
  request.deadline = net::after(50ms);
  EXPECT_EQ(fetch(request).error().code, Code::timeout);
}

TEST(FdProtocol, MessagesSurviveTheWire) {
  for (const ObjectKind kind : {ObjectKind::region, ObjectKind::segment}) {
    const ObjectName name{kind, 0x0123456789abcdef};
    EXPECT_EQ(decode_request(encode_request(name)), name);
  }
  const auto reply = decode_reply(encode_reply({Answer::granted, 4096}));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->answer, Answer::granted);
  EXPECT_EQ(reply->bytes, 4096u);
}

TEST(FdProtocol, EveryFlippedHeaderByteAndEveryOtherLengthIsRefused) {
  const net::Bytes good = encode_request({ObjectKind::segment, 1});
  ASSERT_EQ(good.size(), request_bytes);
  for (std::size_t i = 0; i < 8; ++i) {
    net::Bytes bad = good;
    bad[i] ^= std::byte{0x40};
    EXPECT_FALSE(decode_request(bad)) << i;
  }
  for (std::size_t length = 0; length < request_bytes; ++length) {
    EXPECT_FALSE(decode_request(net::ByteView(good).first(length)));
    EXPECT_FALSE(decode_reply(net::ByteView(good).first(length)));
  }
  net::Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_request(longer));
}

}  // namespace
}  // namespace gyre::shm

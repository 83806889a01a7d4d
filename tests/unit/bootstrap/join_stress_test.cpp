// SPDX-License-Identifier: Apache-2.0
// Joining while the world is unkind: strangers at every port, signals, and again and again.
#include <dirent.h>
#include <gmock/gmock.h>
#include <sys/time.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>

#include "unit/bootstrap/ranks.h"
#include "unit/net/strangers.h"

namespace gyre::bootstrap::testing {
namespace {

using namespace std::chrono_literals;

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* directory = ::opendir("/proc/self/fd");
  while (::readdir(directory) != nullptr) {
    ++count;
  }
  ::closedir(directory);
  return count;
}

// Inodes of this process's sockets.
std::vector<std::string> own_sockets() {
  std::vector<std::string> inodes;
  DIR* directory = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(directory)) {
    std::array<char, 64> target{};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (::readlink(path.c_str(), target.data(), target.size() - 1) > 0 &&
        std::string_view(target.data()).starts_with("socket:[")) {
      const std::string_view text(target.data());
      inodes.emplace_back(text.substr(8, text.size() - 9));
    }
  }
  ::closedir(directory);
  return inodes;
}

// Ports of the listening IPv4 sockets of this process, as a scanner finds them.
std::vector<std::uint16_t> listening_ports() {
  const std::vector<std::string> mine = own_sockets();
  std::vector<std::uint16_t> ports;
  std::ifstream table("/proc/net/tcp");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
    fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >>
        timeout >> inode;
    if (state != "0A") {
      break;  // the kernel lists listening sockets first, then thousands of closed ones
    }
    if (std::ranges::count(mine, inode) > 0) {
      ports.push_back(
          static_cast<std::uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
    }
  }
  return ports;
}

// Ranks 0 to 2 wait at the root, so the root and these three listen: each of them gets every kind of
// stranger, and only then comes rank 3. Strangers come first in every queue.
TEST_F(Ranks, StrangersAtEveryPortHarmNobody) {
  for (int round = 0; round < 100; ++round) {
    make_root();
    std::vector<Channel> early;
    std::thread first([&] {
      early = join({options_of(root->id(), 0, 4), options_of(root->id(), 1, 4),
                    options_of(root->id(), 2, 4)});
    });
    std::vector<std::uint16_t> ports;
    const auto deadline = net::after(20s);
    while (ports.size() < 4 && net::Clock::now() < deadline) {
      ports = listening_ports();
    }
    ASSERT_EQ(ports.size(), 4u);
    net::testing::Stranger stranger;
    for (const std::uint16_t port : ports) {
      for (int kind = 0; kind < net::testing::Stranger::kinds; ++kind) {
        stranger.disturb(net::Address::loopback_v4(port), kind);
      }
    }
    const auto late = join({options_of(root->id(), 3, 4)});
    first.join();
    EXPECT_TRUE(late[0]) << "round " << round << ": " << late[0].error().message;
    for (const Channel& channel : early) {
      EXPECT_TRUE(channel) << "round " << round << ": " << channel.error().message;
    }
    // The root dealt with all but the silent one before it could see rank 3.
    EXPECT_GE(root->strangers(), 5u);
  }
}

class SignalStorm {
 public:
  SignalStorm() {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // without SA_RESTART: every blocking call is interrupted
    ::sigaction(SIGALRM, &action, &before_);
    const itimerval every_millisecond{{0, 1000}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &every_millisecond, nullptr);
  }
  ~SignalStorm() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  SignalStorm(const SignalStorm&) = delete;
  SignalStorm& operator=(const SignalStorm&) = delete;

 private:
  struct sigaction before_ {};
};

TEST_F(Ranks, SignalsInterruptNothing) {
  const SignalStorm storm;
  for (int round = 0; round < 100; ++round) {
    make_root();
    auto channels = join(3);
    on_each_rank(3, [&](int rank) {
      const Channel& channel = channels[static_cast<std::size_t>(rank)];
      ASSERT_TRUE(channel) << channel.error().message;
      const auto all = (*channel)->all_gather(bytes_of("x"), soon());
      ASSERT_TRUE(all) << all.error().message;
    });
  }
}

TEST_F(Ranks, DescriptorsStayFlat) {
  std::size_t before = 0;
  for (int round = 0; round < 200; ++round) {
    make_root();
    auto channels = join(4);
    on_each_rank(4, [&](int rank) {
      const Channel& channel = channels[static_cast<std::size_t>(rank)];
      ASSERT_TRUE(channel);
      ASSERT_TRUE((*channel)->barrier(soon()));
      (*channel)->goodbye();
    });
    channels.clear();
    root.reset();
    if (round == 9) {
      before = open_descriptors();
    }
  }
  // Farewells may still be draining on the loop.
  const auto deadline = net::after(10s);
  while (open_descriptors() > before && net::Clock::now() < deadline) {
    loop.run([] {});
  }
  EXPECT_LE(open_descriptors(), before);
}

TEST_F(Ranks, AFixedPortServesStartAfterStart) {
  net::Address address = root->id().root;
  root.reset();
  net::Secret job{};
  job.fill(std::byte{9});
  for (int start = 0; start < 100; ++start) {
    const auto id = UniqueId::derive(address, job, "start " + std::to_string(start));
    ASSERT_TRUE(id);
    std::vector<ControlOptions> all;
    for (int rank = 0; rank < 3; ++rank) {
      all.push_back(options_of(*id, rank, 3));
    }
    // The ranks may come before their root listens, and meet the port while it is dead.
    std::thread server([&] {
      auto served = Root::serve(loop, *id, test_version);
      ASSERT_TRUE(served) << served.error().message;
      root = std::move(*served);
    });
    auto channels = join(std::move(all));
    server.join();
    for (const Channel& channel : channels) {
      ASSERT_TRUE(channel) << "start " << start << ": " << channel.error().message;
    }
    channels.clear();
    root.reset();
  }
}

TEST_F(Ranks, AStaleRankOfAnEarlierStartIsKeptOut) {
  net::Secret job{};
  const auto old_id = UniqueId::derive(root->id().root, job, "start 1");
  ControlOptions stale = options_of(*old_id, 0, 2);
  stale.deadline = net::after(200ms);
  const auto outcome = join({stale});
  EXPECT_FALSE(outcome[0]);
  auto channels = join(2);
  EXPECT_TRUE(channels[0]);
  EXPECT_TRUE(channels[1]);
  EXPECT_GT(root->strangers(), 0u);
}

}  // namespace
}  // namespace gyre::bootstrap::testing

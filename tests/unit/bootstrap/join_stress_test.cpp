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
    if (state == "0A" && std::ranges::count(mine, inode) > 0) {
      ports.push_back(
          static_cast<std::uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
    }
  }
  return ports;
}

TEST_F(Ranks, StrangersAtEveryPortHarmNobody) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> disturbances{0};
  std::thread scanner([&] {
    net::testing::Stranger stranger;
    for (int kind = 0; !stop; ++kind) {
      for (const std::uint16_t port : listening_ports()) {
        stranger.disturb(net::Address::loopback_v4(port), kind);
        ++disturbances;
      }
    }
  });
  for (int round = 0; round < 100; ++round) {
    make_root();
    auto channels = join(4);
    for (const Channel& channel : channels) {
      EXPECT_TRUE(channel) << "round " << round << ": " << channel.error().message;
    }
  }
  stop = true;
  scanner.join();
  EXPECT_GT(disturbances, 100u);
  RecordProperty("disturbances", std::to_string(disturbances));
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

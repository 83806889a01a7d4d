// SPDX-License-Identifier: Apache-2.0
// Many ranks as threads of one process over one event loop.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bootstrap/control_channel.h"
#include "bootstrap/root.h"

namespace gyre::bootstrap::testing {

inline constexpr std::uint32_t test_version = 100;  // 0.1.0

// Loopback only, so that a test does not depend on the machine's network.
inline Network loopback_network() {
  return Network{{"lo", "AF_INET"}, {}};
}

inline Bytes bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}
inline std::string text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Ranks : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(loop.start());
    make_root();
  }
  void make_root() {
    root.reset();
    auto made = Root::create(loop, loopback_network(), test_version);
    ASSERT_TRUE(made) << made.error().message;
    root = std::move(*made);
  }

  ControlOptions options(int rank, int size, std::chrono::milliseconds timeout) {
    return options_of(root->id(), rank, size, timeout);
  }
  static ControlOptions options_of(const UniqueId& id, int rank, int size,
                                   std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
    ControlOptions result;
    result.id = id;
    result.rank = rank;
    result.size = size;
    result.deadline = net::after(timeout);
    result.init_timeout = timeout;
    result.card = bytes_of("card of " + std::to_string(rank));
    result.network = loopback_network();
    result.library_version = test_version;
    return result;
  }

  using Channel = Result<std::unique_ptr<ControlChannel>>;
  // Joins all with their options, each on a thread, and gives the outcomes back in order.
  std::vector<Channel> join(std::vector<ControlOptions> all) {
    std::vector<Channel> outcomes(all.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < all.size(); ++i) {
      threads.emplace_back(
          [&, i] { outcomes[i] = ControlChannel::connect(loop, std::move(all[i])); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return outcomes;
  }
  std::vector<Channel> join(int size,
                            std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
    std::vector<ControlOptions> all;
    for (int rank = 0; rank < size; ++rank) {
      all.push_back(options(rank, size, timeout));
    }
    return join(std::move(all));
  }

  net::EventLoop loop;
  std::unique_ptr<Root> root;
};

// body(rank) on a thread of its own for each rank.
inline void on_each_rank(int size, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back(body, rank);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

inline net::Deadline soon() {
  return net::after(std::chrono::seconds(20));
}

}  // namespace gyre::bootstrap::testing

// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <future>

#include "net/connection.h"

namespace gyre::net {
namespace {

using namespace std::chrono_literals;

class EventLoopTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(loop.start()); }
  EventLoop loop;
};

TEST_F(EventLoopTest, RunsTasksInOrderOnItsThread) {
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(loop.post([&, i] {
      EXPECT_TRUE(loop.in_loop_thread());
      seen.push_back(i);
    }));
  }
  ASSERT_TRUE(loop.run([&] { EXPECT_EQ(seen.size(), 100u); }));
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_FALSE(loop.in_loop_thread());
}

TEST_F(EventLoopTest, BlocksAllSignals) {
  sigset_t blocked;
  loop.run([&] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); });
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGPIPE}) {
    EXPECT_EQ(sigismember(&blocked, signal), 1) << signal;
  }
  sigset_t ours;
  pthread_sigmask(SIG_SETMASK, nullptr, &ours);
  EXPECT_EQ(sigismember(&ours, SIGTERM), 0) << "the caller's mask is as before";
}

TEST_F(EventLoopTest, TimersFireInOrderOfTimeAndNotEarly) {
  std::promise<void> done;
  std::vector<int> order;
  const auto begin = Clock::now();
  loop.call_at(begin + 30ms, [&] {
    order.push_back(2);
    EXPECT_GE(Clock::now(), begin + 30ms);
    done.set_value();
  });
  loop.call_at(begin + 10ms, [&] { order.push_back(1); });
  const auto cancelled = loop.call_at(begin + 20ms, [&] { order.push_back(99); });
  loop.cancel(cancelled);
  done.get_future().get();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST_F(EventLoopTest, AfterUnwatchFromAnotherThreadTheHandlerIsNotRunning) {
  const UniqueFd event(::eventfd(1, EFD_NONBLOCK));  // readable all the time
  for (int round = 0; round < 200; ++round) {
    auto alive = std::make_unique<std::atomic<int>>(1);
    std::promise<void> started;
    std::atomic<bool> told{false};
    const auto watch = loop.watch(event.get(), EPOLLIN, [&, raw = alive.get()](std::uint32_t) {
      if (!told.exchange(true)) {
        started.set_value();
      }
      ASSERT_EQ(raw->load(), 1);
    });
    ASSERT_TRUE(watch);
    started.get_future().get();
    loop.unwatch(*watch);
    alive->store(0);  // a handler that still ran would see it, or freed memory
  }
}

TEST_F(EventLoopTest, AHandlerMayRemoveItself) {
  const UniqueFd event(::eventfd(1, EFD_NONBLOCK));
  std::promise<void> called;
  std::atomic<int> calls{0};
  std::promise<EventLoop::WatchId> id;
  std::shared_future<EventLoop::WatchId> known = id.get_future().share();
  const auto watch = loop.watch(event.get(), EPOLLIN, [&](std::uint32_t) {
    ++calls;
    loop.unwatch(known.get());
    called.set_value();
  });
  ASSERT_TRUE(watch);
  id.set_value(*watch);
  called.get_future().get();
  loop.run([] {});
  loop.run([] {});
  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, SleepsWhenIdle) {
  clockid_t clock{};
  pthread_t thread{};
  loop.run([&] { thread = pthread_self(); });
  ASSERT_EQ(pthread_getcpuclockid(thread, &clock), 0);
  const auto used = [clock] {
    timespec time{};
    clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  loop.call_at(after(1h), [] {});
  loop.run([] {});
  const auto before = used();
  std::this_thread::sleep_for(300ms);  // the subject of this test is that nothing happens meanwhile
  EXPECT_LT(used() - before, 5ms);
}

TEST_F(EventLoopTest, AfterStopNothingRunsAndNothingHangs) {
  std::atomic<bool> ran{false};
  loop.call_at(after(1h), [&] { ran = true; });
  loop.stop();
  EXPECT_FALSE(loop.post([&] { ran = true; }));
  EXPECT_FALSE(loop.run([&] { ran = true; }));
  EXPECT_FALSE(loop.watch(0, EPOLLIN, [&](std::uint32_t) { ran = true; }));
  loop.stop();
  EXPECT_FALSE(ran);
}

struct Pair {
  std::shared_ptr<Connection> left, right;
};

class ConnectionTest : public EventLoopTest {
 protected:
  Pair connect(Connection::Callbacks left, Connection::Callbacks right) {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
    const FrameLimits limits{{1, 1u << 26}};
    return {Connection::start(loop, UniqueFd(fds[0]), limits, std::move(left)),
            Connection::start(loop, UniqueFd(fds[1]), limits, std::move(right))};
  }
};

TEST_F(ConnectionTest, CarriesManyAndLargeFramesInOrder) {
  std::vector<std::size_t> sizes;
  std::promise<void> all;
  const std::vector<std::size_t> expected{0, 1, 10, 1u << 22, 3, 1u << 20, 0};
  Pair pair = connect({}, {[&](const Frame& frame) {
                             sizes.push_back(frame.payload.size());
                             if (sizes.size() == expected.size()) {
                               all.set_value();
                             }
                           },
                           {}});
  for (const std::size_t size : expected) {
    pair.left->send(1, Bytes(size, std::byte{7}));
  }
  ASSERT_EQ(all.get_future().wait_for(20s), std::future_status::ready);
  EXPECT_EQ(sizes, expected);
}

TEST_F(ConnectionTest, CloseWhenSentLosesNothing) {
  std::atomic<std::size_t> received{0};
  std::promise<std::string> closed;
  Pair pair = connect({}, {[&](const Frame& frame) { received += frame.payload.size(); },
                           [&](const std::string& why) { closed.set_value(why); }});
  pair.left->send(1, Bytes(1u << 22));
  pair.left->close_when_sent(20s);
  pair.left.reset();
  EXPECT_EQ(closed.get_future().get(), "its connection closed");
  EXPECT_EQ(received, 1u << 22);
}

TEST_F(ConnectionTest, ALastWordIsReadThoughWeWereWriting) {
  std::promise<std::string> closed;
  std::atomic<int> words{0};
  Pair pair = connect(
      {[&](const Frame&) { ++words; }, [&](const std::string& why) { closed.set_value(why); }}, {});
  loop.run([&] {
    pair.right->send(1, {});  // the farewell; then it goes, with our bytes unread
    pair.right->close();
    pair.left->send(1, Bytes(100));
    pair.left->send(1, Bytes(100));
  });
  closed.get_future().get();
  EXPECT_EQ(words, 1);
}

TEST_F(ConnectionTest, AMalformedFrameEndsIt) {
  std::array<int, 2> fds{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
  const UniqueFd raw(fds[1]);
  std::promise<std::string> closed;
  const auto connection =
      Connection::start(loop, UniqueFd(fds[0]), {{1, 10}},
                        {{}, [&](const std::string& why) { closed.set_value(why); }});
  const Bytes bad = encode_frame(2, {});
  ASSERT_EQ(::send(raw.get(), bad.data(), bad.size(), 0), static_cast<ssize_t>(bad.size()));
  EXPECT_EQ(closed.get_future().get(), "a message has the unknown type 2");
}

}  // namespace
}  // namespace gyre::net

// SPDX-License-Identifier: Apache-2.0
// The inside of a ControlChannel, shared with the callbacks on the loop thread.
// control_join.cpp builds the links, control_core.cpp keeps them, control_exchange.cpp uses them.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <tuple>

#include "bootstrap/control_channel.h"
#include "bootstrap/messages.h"
#include "net/acceptor.h"
#include "net/connection.h"

namespace gyre::bootstrap {

class ControlChannel::Core : public std::enable_shared_from_this<ControlChannel::Core> {
 public:
  Core(net::EventLoop& loop, ControlOptions options);

  // Collective; blocking.
  Status join();
  Result<std::vector<Bytes>> exchange(GatherStep::Kind kind, ByteView mine, Deadline deadline);

  // The first cause wins: it is flooded, given to on_failure, and returned from then on.
  void record(Failure failure);
  [[nodiscard]] std::optional<Failure> failure() const;
  void goodbye();
  // No callback runs any more when it returns. Never waits for a peer.
  void close();

  [[nodiscard]] int rank() const { return options_.rank; }
  [[nodiscard]] int size() const { return options_.size; }
  [[nodiscard]] std::size_t links() const;
  [[nodiscard]] const std::vector<Bytes>& cards() const { return cards_; }

 private:
  struct Link {
    std::shared_ptr<net::Connection> connection;
    std::string who;    // "rank 2", then with pid and host
    bool left = false;  // said goodbye
  };
  using StepKey = std::tuple<int, std::uint64_t, std::uint8_t>;  // from, sequence, round

  // Joining.
  [[nodiscard]] net::Credentials credentials(net::Purpose purpose) const;
  Status join_root();
  Status listen_for_neighbours(int root_fd);
  Result<Welcome> check_in(int root_fd);
  Result<net::Frame> read_answer(int root_fd);
  Status build_overlay(const Welcome& welcome);
  void on_incoming(UniqueFd fd, const net::PeerIdentity& peer, const net::Address& from);
  void attach(int peer, UniqueFd fd);
  Status wait_for_neighbours();
  [[nodiscard]] std::vector<int> unlinked() const;

  // Links, on the loop thread.
  void on_frame(int peer, net::Frame frame);
  void on_introduction(int peer, ByteView payload);
  void on_step(int peer, ByteView payload);
  void on_news(ByteView payload);
  void on_closed(int peer, const std::string& why);
  void deliver_failure();
  void close_links();

  // Exchanging.
  Result<GatherStep> await_step(int from, std::uint8_t round, GatherStep::Kind kind,
                                Deadline deadline);
  Status send_step(int to, const GatherStep& step);
  Unexpected fail_with(int culprit, Code code, std::string text);

  net::EventLoop& loop_;
  ControlOptions options_;
  std::vector<Bytes> cards_;
  std::unique_ptr<net::Acceptor> acceptor_;
  std::uint64_t sequence_ = 0;  // of the exchange under way; the calling thread's

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::map<int, Link> links_;
  std::map<StepKey, GatherStep> inbox_;
  std::optional<Failure> failure_;
  bool delivered_ = false;  // on_failure was called
  bool leaving_ = false;    // goodbye() was called
  bool closed_ = false;
};

}  // namespace gyre::bootstrap

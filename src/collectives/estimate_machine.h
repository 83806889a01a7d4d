// SPDX-License-Identifier: Apache-2.0
// The discrete-event simulation behind estimate(). Everything that happens is an event at a time;
// what a rank can see at a time depends only on events before it.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "collectives/estimate.h"
#include "collectives/estimate_script.h"
#include "collectives/geometry.h"

namespace gyre::plan {

class EstimateMachine {
 public:
  // `slots` of each FIFO; 0: no limit.
  EstimateMachine(const EstimateScript& script, int ranks, const Geometry& geometry,
                  std::uint64_t element_bytes, int channels, int slots);

  [[nodiscard]] Result<Estimate> run();

 private:
  enum class What : std::uint8_t {
    wake,    // `subject` is a rank: it may be able to go on
    head,    // `subject` is a FIFO: the head of a message is at the receiver's port
    arrive,  // the whole message is there
    credit,  // a released slot is known to the sender
  };
  struct Event {
    double at;
    std::uint64_t order;  // of events at one time: as they were made
    std::uint64_t bytes;  // head
    std::uint32_t subject;
    What what;
    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  // Of one channel of one link. Counters only grow.
  struct Fifo {
    std::uint64_t sent = 0, arrived = 0, taken = 0, credits = 0;
  };
  struct Channel {
    std::uint64_t turn = 0, turns = 0;
    std::uint32_t step = 0;
  };
  struct Rank {
    double busy_until = 0;
    double send_port_free = 0;
    double receive_port_free = 0;
    double done = 0;
    std::uint64_t bytes = 0;
    std::int32_t channel = 0;  // that is looked at next
    std::int32_t live_channels = 0;
    bool computing = false;  // the step of `channel` has been begun, and ends at busy_until
  };

  void push(double at, What what, std::uint32_t subject, std::uint64_t bytes = 0);
  void handle(const Event& event);
  void wake(int rank);
  bool advance(int rank, int channel);
  bool try_step(int rank, int channel, const EstimateScript::Move& step);
  bool begin_combine(int rank, int channel, const EstimateScript::Move& step);
  void end_step(int rank, int channel);
  void send(int rank, int channel, std::uint32_t link, std::uint64_t bytes);
  [[nodiscard]] double cost_of(int rank, const EstimateScript::Move& step,
                               std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t bytes_of(int rank, int channel,
                                       const EstimateScript::Move& step) const;

  [[nodiscard]] std::size_t channel_at(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(channel_count_) +
           static_cast<std::size_t>(channel);
  }
  [[nodiscard]] Channel& channel_of(int rank, int channel) {
    return channels_[channel_at(rank, channel)];
  }
  [[nodiscard]] std::uint32_t fifo_number(std::uint32_t link, int channel) const {
    return link * static_cast<std::uint32_t>(channel_count_) + static_cast<std::uint32_t>(channel);
  }
  [[nodiscard]] const EstimateLink& link_of(std::uint32_t fifo) const {
    return script_.links()[fifo / static_cast<std::uint32_t>(channel_count_)];
  }

  const EstimateScript& script_;
  const Geometry& geometry_;
  std::uint64_t element_bytes_;
  std::uint64_t slots_;
  int channel_count_;
  std::vector<Rank> ranks_;
  std::vector<Channel> channels_;  // by rank and channel
  std::vector<Fifo> fifos_;        // by link and channel
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  double now_ = 0;
  std::uint64_t messages_ = 0;
};

}  // namespace gyre::plan

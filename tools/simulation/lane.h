// SPDX-License-Identifier: Apache-2.0
// One direction of a connection between two simulated ranks. The bytes of a message lie in the slot
// that the sender has written; what SimGrid simulates is how long they take to get there.
//
// A lane transfers its messages one after the other, as a queue pair or a socket does, and lanes share
// links as SimGrid says. Latency follows the transfer, outside of SimGrid: there the next message of a
// lane could start only after the latency of the one before, or else would share the link with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <simgrid/s4u.hpp>

#include "simulation/agenda.h"
#include "simulation/simulated_doorbell.h"
#include "transport/connection.h"

namespace gyre::simulation {

// Of all lanes together.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  // simulated
};

// What all lanes of an experiment have in common.
struct LaneCosts {
  std::uint64_t scale = 1;  // simulated bytes for each real one
  double overhead = 0;
  Agenda* agenda = nullptr;
  // Whether both hosts and the links between them work.
  std::function<bool(int from, int to)> is_whole;
  // A transfer was cut off.
  std::function<void(int from, int to)> on_failure;
};

class Lane {
 public:
  struct End {
    int rank = 0;
    simgrid::s4u::Host* host = nullptr;
    SimulatedDoorbell* doorbell = nullptr;
  };

  // Channels of the shape, one for small messages and one for signals.
  Lane(End sender, End receiver, double latency, const transport::Shape& shape,
       const LaneCosts& costs, Traffic& traffic);

  [[nodiscard]] int inline_channel() const { return static_cast<int>(fifos_.size()) - 2; }
  [[nodiscard]] int signal_channel() const { return static_cast<int>(fifos_.size()) - 1; }

  // The sender's side; as in transport/connection.h.
  [[nodiscard]] std::byte* slot_to_fill(int channel);
  void put(int channel, std::size_t bytes, std::uint32_t tag);
  // The receiver's.
  [[nodiscard]] transport::Arrival arrived(int channel, std::uint32_t tag,
                                           const std::byte** message);
  void release(int channel);

  // What SimGrid's own actor does. The transfer of the oldest message that is left:
  void transfer_next();
  // and its end. A lane whose link broke transfers nothing any more.
  void end_transfer(bool arrived);
  // Once in a process: lets SimGrid tell each lane of the end of its transfers.
  static void follow_transfers();

 private:
  struct Message {
    std::size_t bytes;
    std::uint32_t tag;
    double visible_at;
  };
  struct Fifo {
    Fifo(std::uint64_t slot_count, std::size_t bytes) : slots(slot_count), slot_bytes(bytes) {}
    [[nodiscard]] std::byte* slot(std::uint64_t number);
    std::uint64_t slots;
    std::size_t slot_bytes;
    // By slot; made when it is filled for the first time, for most lanes never have many messages under
    // way. Signals have none.
    std::vector<std::unique_ptr<std::byte[]>> memory;
    std::deque<Message> unreleased;  // the oldest first
    std::deque<double> credits;      // when the sender will know of released slots
    std::uint64_t sent = 0;
    std::uint64_t credited = 0;
    // The sender has looked for a free slot in vain: it will be woken for the next credit, or will be
    // at this time for the one that is on its way.
    bool is_missed = false;
    double rings_at = -1;
  };
  struct Parcel {
    Message* message;  // stays where it is: a deque's element
    std::uint64_t bytes;
  };

  [[nodiscard]] Fifo& fifo(int channel) { return fifos_[static_cast<std::size_t>(channel)]; }

  End sender_, receiver_;
  double latency_;
  const LaneCosts& costs_;
  Traffic& traffic_;
  std::deque<Fifo> fifos_;
  std::deque<Parcel> outbox_;       // the first one is under way
  simgrid::s4u::CommPtr transfer_;  // it, or the one before
};

}  // namespace gyre::simulation

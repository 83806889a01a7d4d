// SPDX-License-Identifier: Apache-2.0
// How long a plan takes on a network that is described by four numbers a link: a discrete-event
// simulation of all programs, in microseconds of real time for small plans.
//
// The model. A rank has one processor, a port that sends and a port that receives; nothing else is
// shared, so the network is full duplex and free of contention.
//   - A combining step occupies the processor for `reduce_per_byte` for each byte of a message that
//     is combined with something, and `overhead` for each message that it puts.
//   - A message of b bytes occupies the sender's port for b * per_byte; `latency` later its head is at
//     the receiver's port, which it occupies for as long. Ports serve in the order of arrival.
//   - A slot that is released can be filled again by the sender `latency` later.
//   - Copies, waiting and releasing cost nothing.
// Each channel runs its tiles in turn, as the executor does. This is LogGP (A. Alexandrov,
// M. Ionescu, K. Schauser, C. Scheiman, "LogGP: incorporating long messages into the LogP model",
// SPAA 1995) with o on the sender only, and G on both ports.
//
// Left out: that the executor sends inputs ahead across tiles where a plan is a single exchange.
// Direct plans have no messages: reading and writing a peer's buffers occupies the processor as a
// transfer would, and a signal is a message of no bytes. Small messages (flag_in_line) need no slot.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "collectives/catalog.h"
#include "collectives/plan.h"

namespace gyre::plan {

// Seconds, and seconds a byte.
struct LinkClass {
  double latency = 0;
  double per_byte = 0;         // inverse bandwidth
  double reduce_per_byte = 0;  // of what came over the link and is combined
  double overhead = 0;         // of the sender's processor, for each message
};

struct NetworkModel {
  std::vector<LinkClass> classes = {LinkClass{}};
  // The class of the link between two ranks; where there is no function, all links are of class 0.
  std::function<std::size_t(int from, int to)> class_of = {};
};

struct Workload {
  std::uint64_t count = 0;  // elements of the buffer, or of one section (layout.h)
  std::uint64_t element_bytes = 4;
  std::uint64_t slot_bytes = std::uint64_t{128} * 1024;
  int channels = 1;
  int slots = 8;  // of each FIFO; at least as many as the plan needs are taken
};

struct Estimate {
  double seconds = 0;                // until the last rank is done
  std::vector<double> rank_seconds;  // when each rank is done
  int critical_rank = 0;             // the last one
  std::uint64_t messages = 0;        // of all ranks together, signals included
  std::uint64_t bytes = 0;           // sent by all ranks together
  std::uint64_t most_bytes = 0;      // sent by one rank, at most
};

// Fails where the plan gets stuck, which verify() would have said.
[[nodiscard]] Result<Estimate> estimate(const Plan& plan, const NetworkModel& network,
                                        const Workload& workload);
// The same without ever holding the programs of all ranks: `description` needs none.
[[nodiscard]] Result<Estimate> estimate(const Plan& description,
                                        const std::function<Program(int rank)>& program_of,
                                        const NetworkModel& network, const Workload& workload);
[[nodiscard]] Result<Estimate> estimate(const Recipe& recipe, const NetworkModel& network,
                                        const Workload& workload);

// Which part of a peak that a network offers a collective reaches: the factors of nccl-tests
// (doc/PERFORMANCE.md there), for S bytes in the buffer or in one section.
[[nodiscard]] double bus_bandwidth(Collective collective, int ranks, double bytes, double seconds);

}  // namespace gyre::plan

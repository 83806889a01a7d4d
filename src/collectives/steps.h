// SPDX-License-Identifier: Apache-2.0
// The vocabulary that builders write programs in: one short function for each place and each step, and
// for what several of them do alike.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "collectives/plan.h"

namespace gyre::plan::build {

[[nodiscard]] inline Slice input(int block) {
  return {Place::input, block, -1};
}
[[nodiscard]] inline Slice output(int block) {
  return {Place::output, block, -1};
}
[[nodiscard]] inline Slice slot(int peer, int block) {
  return {Place::slot, block, peer};
}
[[nodiscard]] inline Slice peer_slot(int peer, int block) {
  return {Place::peer_slot, block, peer};
}
[[nodiscard]] inline Slice peer_input(int peer, int block) {
  return {Place::peer_input, block, peer};
}
[[nodiscard]] inline Slice peer_output(int peer, int block) {
  return {Place::peer_output, block, peer};
}

[[nodiscard]] inline Slice scratch(int number, int block) {
  return {Place::scratch, block, -1, number};
}

using Slices = std::vector<Slice>;

// A copy, a put, a reduction or all of them in one pass, by the places that are named.
[[nodiscard]] inline Step combine(Slices sources, Slices destinations) {
  return {StepKind::combine, -1, std::move(destinations), std::move(sources), false};
}
// A combine whose value is complete with this step.
[[nodiscard]] inline Step complete(Slices sources, Slices destinations) {
  return {StepKind::combine, -1, std::move(destinations), std::move(sources), true};
}
[[nodiscard]] inline Step wait(int peer) {
  return {StepKind::wait, peer, {}, {}, false};
}
[[nodiscard]] inline Step release(int peer) {
  return {StepKind::release, peer, {}, {}, false};
}
[[nodiscard]] inline Step signal(int peer) {
  return {StepKind::signal, peer, {}, {}, false};
}
[[nodiscard]] inline Step await(int peer) {
  return {StepKind::await, peer, {}, {}, false};
}

// rank + 1, rank + 2, ...: the order in which a rank sends to all others. Staggered, so that the
// ranks do not all write to the same peer at the same time.
[[nodiscard]] inline std::vector<int> peers_to_send(int rank, int ranks) {
  std::vector<int> peers;
  for (int distance = 1; distance < ranks; ++distance) peers.push_back((rank + distance) % ranks);
  return peers;
}

// rank - 1, rank - 2, ...: the order in which messages arrive when all send in that order.
[[nodiscard]] inline std::vector<int> peers_to_receive(int rank, int ranks) {
  std::vector<int> peers;
  for (int distance = 1; distance < ranks; ++distance) {
    peers.push_back((rank + ranks - distance) % ranks);
  }
  return peers;
}

// Does `step` while the next message of each peer is current.
inline void with_messages(Program& program, std::span<const int> peers, Step step) {
  for (const int peer : peers) program.push_back(wait(peer));
  program.push_back(std::move(step));
  for (const int peer : peers) program.push_back(release(peer));
}
inline void with_message(Program& program, int peer, Step step) {
  with_messages(program, std::span(&peer, 1), std::move(step));
}
// Stores the next message of a peer, which carries that block, or sends it on.
inline void take(Program& program, int peer, int block, Slices destinations) {
  with_message(program, peer, combine({slot(peer, block)}, std::move(destinations)));
}

// A block of all ranks, in the order of ranks: those of the others from their messages, or where they
// lie.
[[nodiscard]] inline Slices contributions(int rank, int ranks, int block) {
  Slices sources;
  for (int source = 0; source < ranks; ++source) {
    sources.push_back(source == rank ? input(block) : slot(source, block));
  }
  return sources;
}
[[nodiscard]] inline Slices mapped_contributions(int rank, int ranks, int block) {
  Slices sources;
  for (int source = 0; source < ranks; ++source) {
    sources.push_back(source == rank ? input(block) : peer_input(source, block));
  }
  return sources;
}

// Each tells each that it has done what comes before, and hears so of all.
inline void meet(Program& program, int rank, int ranks) {
  for (const int peer : peers_to_send(rank, ranks)) program.push_back(signal(peer));
  for (const int peer : peers_to_receive(rank, ranks)) program.push_back(await(peer));
}

}  // namespace gyre::plan::build

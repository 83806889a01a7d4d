// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/problem.h"

#include <string>

#include "perf/bounds/contest.h"
#include "perf/common/failure.h"

namespace bounds {
namespace {

float sum_of_inputs(int ranks, std::size_t index) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += input_value(rank, index);
  return sum;
}

}  // namespace

Collective parse_collective(std::string_view name, int ranks) {
  const Collective parsed = perf::parse_collective(name);
  if (parsed != Collective::alltoallv) return parsed;
  if (ranks == 2) return Collective::alltoall;
  throw perf::Failure("No bound is known of AllToAllV between " + std::to_string(ranks) +
                      " ranks, whose sections are unequal.");
}

Problem::Problem(Collective collective, int ranks, std::size_t bytes)
    : collective_(collective),
      ranks_(ranks),
      count_(collective == Collective::barrier
                 ? 0
                 : bytes / sizeof(float) / perf::sections_of(collective, ranks)) {}

bool Problem::reduces() const {
  return perf::traits_of(collective_).reduces;
}

std::size_t Problem::in_count(int rank) const {
  return perf::extent_of(collective_, rank, ranks_, 0, count_).send;
}

std::size_t Problem::out_count(int rank) const {
  if (collective_ == Collective::broadcast && rank == 0) return 0;
  return perf::extent_of(collective_, rank, ranks_, 0, count_).receive;
}

bool Problem::is_real(const Move& move) const {
  switch (collective_) {
    case Collective::broadcast:
      return move.from == 0 && move.to != 0;
    case Collective::scatter:
      return move.from == 0;
    case Collective::gather:
      return move.to == 0;
    case Collective::sendrecv:
      return move.to == (move.from + 1) % ranks_;
    default:
      return true;
  }
}

std::vector<Move> Problem::sums() const {
  const int receivers = collective_ == Collective::reduce ? 1 : ranks_;
  std::vector<Move> moves;
  for (int to = 0; to < receivers; ++to) {
    const bool own_section = perf::traits_of(collective_).send_sections;
    const std::size_t from_at = own_section ? count_ * static_cast<std::size_t>(to) : 0;
    moves.push_back({to, 0, Move::everyone, from_at});
  }
  return moves;
}

std::vector<Move> Problem::copies() const {
  const perf::Traits& traits = perf::traits_of(collective_);
  std::vector<Move> moves;
  for (int distance = 0; distance < ranks_; ++distance) {
    for (int to = 0; to < ranks_; ++to) {
      const int from = (to + distance) % ranks_;
      Move move{to, 0, from, 0};
      if (traits.receive_sections) move.to_at = count_ * static_cast<std::size_t>(from);
      if (traits.send_sections) move.from_at = count_ * static_cast<std::size_t>(to);
      if (is_real(move)) moves.push_back(move);
    }
  }
  return moves;
}

std::vector<Move> Problem::moves() const {
  if (count_ == 0) return {};
  return reduces() ? sums() : copies();
}

float Problem::expected(int rank, std::size_t index) const {
  const std::size_t own = count_ * static_cast<std::size_t>(rank);
  switch (collective_) {
    case Collective::all_reduce:
    case Collective::reduce:
      return sum_of_inputs(ranks_, index);
    case Collective::reduce_scatter:
      return sum_of_inputs(ranks_, own + index);
    case Collective::all_gather:
    case Collective::gather:
      return input_value(static_cast<int>(index / count_), index % count_);
    case Collective::alltoall:
      return input_value(static_cast<int>(index / count_), own + index % count_);
    case Collective::broadcast:
      return input_value(0, index);
    case Collective::scatter:
      return input_value(0, own + index);
    case Collective::sendrecv:
      return input_value((rank + ranks_ - 1) % ranks_, index);
    case Collective::alltoallv:
    case Collective::barrier:
      break;
  }
  return 0;
}

}  // namespace bounds

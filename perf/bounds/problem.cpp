// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/problem.h"

#include <array>
#include <stdexcept>

#include "perf/bounds/contest.h"

namespace bounds {
namespace {

struct Row {
  std::string_view name;
  std::string_view title;
  bool in_sections = false;  // one for each member
  bool out_sections = false;
};

constexpr std::array<Row, 10> table{{{"allreduce", "AllReduce"},
                                     {"reduce", "Reduce"},
                                     {"reducescatter", "ReduceScatter", true, false},
                                     {"allgather", "AllGather", false, true},
                                     {"broadcast", "Broadcast"},
                                     {"gather", "Gather", false, true},
                                     {"scatter", "Scatter", true, false},
                                     {"alltoall", "AllToAll", true, true},
                                     {"sendrecv", "Send/Recv"},
                                     {"barrier", "Barrier"}}};

const Row& row_of(Collective collective) {
  return table[static_cast<std::size_t>(collective)];
}

std::size_t section_count(Collective collective, int ranks, std::size_t bytes) {
  const Row& row = row_of(collective);
  const bool many = row.in_sections || row.out_sections;
  return bytes / sizeof(float) / static_cast<std::size_t>(many ? ranks : 1);
}

float sum_of_inputs(int ranks, std::size_t index) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += input_value(rank, index);
  return sum;
}

}  // namespace

Collective parse_collective(std::string_view name, int ranks) {
  std::string plain;
  for (const char letter : name) {
    if (letter != '_') plain += letter;
  }
  if (plain == "alltoallv" && ranks == 2) plain = "alltoall";
  std::string known;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (plain == table[i].name) return static_cast<Collective>(i);
    known += " " + std::string(table[i].name);
  }
  throw std::runtime_error("no bound is known of \"" + std::string(name) + "\" between " +
                           std::to_string(ranks) + " ranks, but of:" + known);
}

std::string_view title_of(Collective collective) {
  return row_of(collective).title;
}

Problem::Problem(Collective collective, int ranks, std::size_t bytes)
    : collective_(collective),
      ranks_(ranks),
      count_(collective == Collective::barrier ? 0 : section_count(collective, ranks, bytes)) {}

bool Problem::reduces() const {
  return collective_ == Collective::all_reduce || collective_ == Collective::reduce ||
         collective_ == Collective::reduce_scatter;
}

std::size_t Problem::in_count(int rank) const {
  const bool roots_only =
      collective_ == Collective::broadcast || collective_ == Collective::scatter;
  if (roots_only && rank != 0) return 0;
  return row_of(collective_).in_sections ? count_ * static_cast<std::size_t>(ranks_) : count_;
}

std::size_t Problem::out_count(int rank) const {
  const bool roots_only = collective_ == Collective::reduce || collective_ == Collective::gather;
  if (roots_only && rank != 0) return 0;
  if (collective_ == Collective::broadcast && rank == 0) return 0;
  return row_of(collective_).out_sections ? count_ * static_cast<std::size_t>(ranks_) : count_;
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
    const bool own_section = row_of(collective_).in_sections;
    const std::size_t from_at = own_section ? count_ * static_cast<std::size_t>(to) : 0;
    moves.push_back({to, 0, Move::everyone, from_at});
  }
  return moves;
}

std::vector<Move> Problem::copies() const {
  const Row& row = row_of(collective_);
  std::vector<Move> moves;
  for (int distance = 0; distance < ranks_; ++distance) {
    for (int to = 0; to < ranks_; ++to) {
      const int from = (to + distance) % ranks_;
      Move move{to, 0, from, 0};
      if (row.out_sections) move.to_at = count_ * static_cast<std::size_t>(from);
      if (row.in_sections) move.from_at = count_ * static_cast<std::size_t>(to);
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
    case Collective::barrier:
      break;
  }
  return 0;
}

}  // namespace bounds

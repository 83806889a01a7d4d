// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/section_mail.h"

#include <algorithm>

namespace bounds {
namespace {

std::size_t lines_for(std::size_t count) {
  return (count + line_floats - 1) / line_floats;
}

std::vector<std::size_t> sections_sent(const std::vector<Move>& moves, int rank) {
  std::vector<std::size_t> sent;
  for (const Move& move : moves) {
    const bool takes_mine = move.from == rank || move.from == Move::everyone;
    if (takes_mine && move.to != rank) sent.push_back(move.from_at);
  }
  std::sort(sent.begin(), sent.end());
  sent.erase(std::unique(sent.begin(), sent.end()), sent.end());
  return sent;
}

}  // namespace

bool SectionMail::fits(const Problem& problem) {
  const std::size_t most = std::max(problem.in_count(0), problem.in_count(problem.ranks() - 1));
  if (problem.count() == 0) return false;
  return most / problem.count() * lines_for(problem.count()) <= most_lines;
}

SectionMail::SectionMail(Mailbox* boxes, const Team& team, const Problem& problem)
    : boxes_(boxes),
      team_(team),
      count_(problem.count()),
      section_lines_(lines_for(problem.count())) {
  const std::vector<Move> moves = problem.moves();
  sent_ = sections_sent(moves, team.rank());
  for (const Move& move : moves) {
    if (move.to == team.rank()) taken_.push_back({move.to_at, move.from, move.from_at});
  }
  for (int rank = 0; rank < team.size(); ++rank) {
    const std::vector<std::size_t> sent = sections_sent(moves, rank);
    first_sent_.push_back(sent.empty() ? 0 : sent.front());
  }
}

Line* SectionMail::section_of(int rank, std::size_t at) const {
  return boxes_[rank].lines[epoch_ % 2].data() + at / count_ * section_lines_;
}

void SectionMail::run(const float* in, float* out) {
  ++epoch_;
  send(in);
  for (const Taken& taken : taken_) take(taken, in, out);
  for (int rank = 0; rank < team_.size(); ++rank) {
    if (rank == team_.rank()) continue;
    const Line* const line = section_of(rank, first_sent_[static_cast<std::size_t>(rank)]);
    team_.waiter().until(line->stamp, epoch_);
  }
}

void SectionMail::send(const float* in) {
  for (const std::size_t at : sent_) {
    write_mail(section_of(team_.rank(), at), in + at, count_, epoch_);
  }
  if (sent_.empty()) write_mail(section_of(team_.rank(), 0), nullptr, 0, epoch_);
}

void SectionMail::take(const Taken& taken, const float* in, float* out) const {
  float* const to = out + taken.to_at;
  if (taken.from == team_.rank()) {
    std::copy_n(in + taken.from_at, count_, to);
  } else if (taken.from != Move::everyone) {
    read_mail(to, section_of(taken.from, taken.from_at), count_, epoch_, team_.waiter());
  } else {
    const float* sum = in + taken.from_at;  // then what has been added up so far
    for (int rank = 0; rank < team_.size(); ++rank) {
      if (rank == team_.rank()) continue;
      add_mail(to, sum, section_of(rank, taken.from_at), count_, epoch_, team_.waiter());
      sum = to;
    }
  }
}

}  // namespace bounds

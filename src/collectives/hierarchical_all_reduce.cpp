// SPDX-License-Identifier: Apache-2.0
// AllReduce by levels, for ranks that are nearer to some than to others: sockets, hosts, a cluster.
//
// Source: the composition of M. Cho, U. Finkler, M. Serrano, D. Kung, H. Hunter, "BlueConnect:
// decomposing all-reduce for deep learning on heterogeneous network hierarchy", IBM Journal of Research
// and Development 63(6), 2019: a reduce-scatter on each level, an AllReduce on the outermost, an
// all-gather on each level on the way back.
//
// Inside a level all members exchange with all, as in two_shot_all_reduce.cpp. Across the outermost any
// of the other algorithms runs among the ranks that have the same place in their hosts, on the share of
// the buffer that belongs to that place: with L ranks a host and S bytes, L rails carry S/L bytes'
// AllReduce each. The share lies in the output between the phases.
#include <numeric>

#include "collectives/all_reduce.h"
#include "collectives/steps.h"

namespace gyre::plan {

namespace {

// The ranks that differ from a rank in its place on one level only.
class Level {
 public:
  Level(int rank, int stride, int size)
      : rank_(rank), stride_(stride), size_(size), place_(rank / stride % size) {}

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int place() const { return place_; }
  [[nodiscard]] int rank_at(int place) const { return rank_ + (place - place_) * stride_; }

 private:
  int rank_, stride_, size_, place_;
};

class HierarchicalProgram {
 public:
  HierarchicalProgram(int rank, int ranks, const Hierarchy& hierarchy) {
    const int host = std::gcd(hierarchy.ranks_per_host, ranks);
    const int socket = std::gcd(hierarchy.ranks_per_socket, host);
    across_ = hierarchy.across;
    int stride = 1;
    for (const int size : {socket, host / socket}) {
      if (size > 1) inner_.emplace_back(rank, stride, size);
      stride *= size;
    }
    outer_ = Level(rank, stride, ranks / stride);
    share_ = host * blocks_across();
  }

  [[nodiscard]] int blocks() const { return share_; }

  Program build() {
    for (std::size_t i = 0; i < inner_.size(); ++i) {
      reduce_scatter(inner_[i], outer_.size() == 1 && i + 1 == inner_.size());
    }
    if (outer_.size() > 1 || inner_.empty()) reduce_across();
    for (auto level = inner_.rbegin(); level != inner_.rend(); ++level) all_gather(*level);
    return std::move(program_);
  }

 private:
  [[nodiscard]] int blocks_across() const {
    return describe_all_reduce(across_, Protocol::staged, outer_.size()).blocks;
  }
  [[nodiscard]] Slice mine(int block) const {
    return in_input_ ? build::input(block) : build::output(block);
  }

  // From then on this rank has a share of the blocks that it had: those of its place.
  void reduce_scatter(const Level& level, bool last) {
    const int part = share_ / level.size();
    const std::vector<int> receivers = build::peers_to_send(level.place(), level.size());
    const std::vector<int> senders = build::peers_to_receive(level.place(), level.size());
    for (int i = 0; i < part; ++i) {
      for (const int place : receivers) {
        const int block = first_ + place * part + i;
        program_.push_back(
            build::combine({mine(block)}, {build::peer_slot(level.rank_at(place), block)}));
      }
      for (const int place : senders) program_.push_back(build::wait(level.rank_at(place)));
      const int block = first_ + level.place() * part + i;
      build::Slices sources;
      for (int place = 0; place < level.size(); ++place) {
        sources.push_back(place == level.place() ? mine(block)
                                                 : build::slot(level.rank_at(place), block));
      }
      program_.push_back(last ? build::complete(std::move(sources), {build::output(block)})
                              : build::combine(std::move(sources), {build::output(block)}));
      for (const int place : senders) program_.push_back(build::release(level.rank_at(place)));
    }
    first_ += level.place() * part;
    share_ = part;
    in_input_ = false;
  }

  // Another algorithm's program with its ranks, blocks and input renamed.
  void reduce_across() {
    Program program = all_reduce_program(across_, Protocol::staged, outer_.place(), outer_.size());
    for (Step& step : program) {
      if (step.peer >= 0) step.peer = outer_.rank_at(step.peer);
      for (Slice& slice : step.destinations) rename(slice);
      for (Slice& slice : step.sources) rename(slice);
      program_.push_back(std::move(step));
    }
  }

  void rename(Slice& slice) const {
    slice.block += first_;
    if (slice.peer >= 0) slice.peer = outer_.rank_at(slice.peer);
    if (slice.place == Place::input) slice = mine(slice.block);
  }

  // Undoes what reduce_scatter did on this level.
  void all_gather(const Level& level) {
    const int part = share_;
    share_ *= level.size();
    first_ -= level.place() * part;
    for (int i = 0; i < part; ++i) {
      const int own = first_ + level.place() * part + i;
      build::Slices destinations;
      for (const int place : build::peers_to_send(level.place(), level.size())) {
        destinations.push_back(build::peer_slot(level.rank_at(place), own));
      }
      program_.push_back(build::combine({build::output(own)}, std::move(destinations)));
      for (const int place : build::peers_to_receive(level.place(), level.size())) {
        const int peer = level.rank_at(place);
        const int block = first_ + place * part + i;
        program_.push_back(build::wait(peer));
        program_.push_back(build::combine({build::slot(peer, block)}, {build::output(block)}));
        program_.push_back(build::release(peer));
      }
    }
  }

  Algorithm across_ = Algorithm::ring;
  std::vector<Level> inner_;  // the innermost first
  Level outer_{0, 1, 1};
  int first_ = 0, share_ = 0;  // the blocks that are this rank's at the moment
  bool in_input_ = true;       // and whether they lie in the input still
  Program program_;
};

}  // namespace

int hierarchical_all_reduce_blocks(int ranks, const Hierarchy& hierarchy) {
  return HierarchicalProgram(0, ranks, hierarchy).blocks();
}

Program hierarchical_all_reduce(int rank, int ranks, const Hierarchy& hierarchy) {
  return HierarchicalProgram(rank, ranks, hierarchy).build();
}

}  // namespace gyre::plan

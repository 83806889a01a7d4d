// SPDX-License-Identifier: Apache-2.0
// The simplest machine that runs a plan: one thread, one step at a time, the rank of the next step
// drawn at random. It shares no code with the verifier or the executor, so that what it computes is
// independent evidence.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/geometry.h"
#include "collectives/layout.h"
#include "collectives/plan.h"

namespace gyre::plan {

template <typename T>
class Interpreter {
 public:
  using Values = std::vector<T>;

  // Of sectioned collectives `geometry` cuts one section, and `section` is its length. In place,
  // input block b of a rank is output block b. Contributions are multiplied by `scale` when they are
  // read, as the executor does for averages.
  Interpreter(const Plan& plan, const Geometry& geometry, std::vector<Values> inputs, T poison,
              bool in_place, std::uint64_t section = 0, T scale = T{1})
      : plan_(plan),
        geometry_(geometry),
        layout_(layout_of(plan.collective)),
        section_(section),
        poison_(poison),
        scale_(scale),
        in_place_(in_place) {
    ranks_.resize(plan.programs.size());
    if (layout_.sectioned) {
      make_sectioned(std::move(inputs));
      return;
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].output = in_place ? inputs[rank] : Values(inputs[rank].size(), poison);
      ranks_[rank].input = std::move(inputs[rank]);
    }
  }

  // False when it got stuck or did something that no machine could do (a slot read that holds no
  // message, lengths that differ). Runs all tiles of all channels one after the other.
  bool run(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::size_t> runnable(ranks_.size());
    for (std::size_t rank = 0; rank < runnable.size(); ++rank) runnable[rank] = rank;
    std::size_t refusals = 0;  // a long enough run of them is a deadlock
    while (!runnable.empty() && sound_) {
      const std::size_t pick = random() % runnable.size();
      std::swap(runnable[pick], runnable.back());
      const std::size_t rank = runnable.back();
      if (finished(rank)) {
        runnable.pop_back();
      } else if (advance(static_cast<int>(rank))) {
        refusals = 0;
      } else if (++refusals > 64 * ranks_.size() && all_blocked(runnable)) {
        return false;
      }
    }
    return sound_;
  }

  const Values& output(std::size_t rank) const { return ranks_[rank].output; }
  // Messages or signals that nobody took.
  bool anything_left() const {
    for (const auto& [ends, fifo] : fifos_) {
      if (!fifo.empty()) return true;
    }
    for (const auto& [ends, count] : signals_) {
      if (count != 0) return true;
    }
    return false;
  }

 private:
  struct Rank {
    Values input, output;
    std::map<int, Values> scratch;  // by number; forgotten at the end of a tile
    std::uint64_t tile = 0;
    std::size_t step = 0;
  };
  struct Message {
    Values values;
    bool current = false;
  };
  using Ends = std::pair<int, int>;  // sender, receiver

  void make_sectioned(std::vector<Values> inputs) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      Rank& self = ranks_[rank];
      // In place both are one buffer with all sections.
      const bool all = in_place_ || layout_.output_sections;
      self.output.assign(section_ * (all ? ranks_.size() : 1), poison_);
      if (in_place_) {
        const std::uint64_t first = layout_.input_sections ? 0 : rank * section_;
        std::copy(inputs[rank].begin(), inputs[rank].end(),
                  self.output.begin() + static_cast<std::ptrdiff_t>(first));
      }
      self.input = std::move(inputs[rank]);
    }
  }

  bool finished(std::size_t rank) const {
    return ranks_[rank].tile == geometry_.tiles() || plan_.programs[rank].empty();
  }

  bool all_blocked(const std::vector<std::size_t>& runnable) {
    for (const std::size_t rank : runnable) {
      if (finished(rank) || advance(static_cast<int>(rank))) return false;
    }
    return true;
  }

  bool advance(int rank) {
    Rank& self = ranks_[static_cast<std::size_t>(rank)];
    const Program& program = plan_.programs[static_cast<std::size_t>(rank)];
    if (!perform(rank, program[self.step])) return false;
    if (++self.step == program.size()) {
      self.step = 0;
      self.scratch.clear();
      ++self.tile;
    }
    return true;
  }

  bool perform(int rank, const Step& step) {
    switch (step.kind) {
      case StepKind::combine:
        return combine(rank, step);
      case StepKind::wait: {
        auto& fifo = fifos_[{step.peer, rank}];
        if (fifo.empty()) return false;
        if (fifo.front().current) sound_ = false;
        fifo.front().current = true;
        return true;
      }
      case StepKind::release: {
        auto& fifo = fifos_[{step.peer, rank}];
        if (fifo.empty() || !fifo.front().current) {
          sound_ = false;
        } else {
          fifo.pop_front();
        }
        return true;
      }
      case StepKind::signal:
        ++signals_[{rank, step.peer}];
        return true;
      case StepKind::await: {
        auto& count = signals_[{step.peer, rank}];
        if (count == 0) return false;
        --count;
        return true;
      }
    }
    return false;
  }

  bool combine(int rank, const Step& step) {
    for (const Slice& slice : step.destinations) {
      if (slice.place == Place::peer_slot && fifos_[{rank, slice.peer}].size() >= slots()) {
        return false;
      }
    }
    Values value = read(rank, step.sources[0]);
    for (std::size_t source = 1; source < step.sources.size(); ++source) {
      const Values more = read(rank, step.sources[source]);
      if (more.size() != value.size()) sound_ = false;
      for (std::size_t i = 0; sound_ && i < value.size(); ++i) {
        value[i] = static_cast<T>(value[i] + more[i]);
      }
    }
    for (const Slice& slice : step.destinations) write(rank, slice, value);
    return true;
  }

  std::size_t slots() const { return static_cast<std::size_t>(plan_.slots); }

  Values& buffer(int rank, bool output) {
    Rank& owner = ranks_[static_cast<std::size_t>(rank)];
    return output || in_place_ ? owner.output : owner.input;
  }

  ElementRange range(int rank, const Slice& slice) const {
    const std::uint64_t tile = ranks_[static_cast<std::size_t>(rank)].tile;
    if (!layout_.sectioned) return geometry_.block(tile, static_cast<std::uint64_t>(slice.block));
    const bool output = slice.place == Place::output || slice.place == Place::peer_output;
    const bool all = in_place_ || (output ? layout_.output_sections : layout_.input_sections);
    ElementRange part = geometry_.tile(tile);
    part.offset += all ? static_cast<std::uint64_t>(slice.block) * section_ : 0;
    return part;
  }

  Values read(int rank, const Slice& slice) {
    if (slice.place == Place::slot) {
      const auto& fifo = fifos_[{slice.peer, rank}];
      const bool there = !fifo.empty() && fifo.front().current &&
                         fifo.front().values.size() == range(rank, slice).length;
      if (!there) sound_ = false;
      return there ? fifo.front().values : Values(range(rank, slice).length, poison_);
    }
    if (slice.place == Place::scratch) {
      const Values& held = ranks_[static_cast<std::size_t>(rank)].scratch[slice.scratch];
      const bool there = held.size() == range(rank, slice).length;
      if (!there) sound_ = false;
      return there ? held : Values(range(rank, slice).length, poison_);
    }
    const bool remote = slice.place == Place::peer_input || slice.place == Place::peer_output;
    const bool output = slice.place == Place::output || slice.place == Place::peer_output;
    const Values& values = buffer(remote ? slice.peer : rank, output);
    const auto [offset, length] = range(rank, slice);
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(offset);
    Values read(first, first + static_cast<std::ptrdiff_t>(length));
    if constexpr (std::is_arithmetic_v<T>) {
      if (!output) {
        for (T& value : read) value = static_cast<T>(value * scale_);
      }
    }
    return read;
  }

  void write(int rank, const Slice& slice, const Values& values) {
    if (slice.place == Place::peer_slot) {
      fifos_[{rank, slice.peer}].push_back({values, false});
      return;
    }
    if (slice.place == Place::scratch) {
      ranks_[static_cast<std::size_t>(rank)].scratch[slice.scratch] = values;
      return;
    }
    const bool remote = slice.place == Place::peer_output;
    const auto [offset, length] = range(rank, slice);
    if (length != values.size()) {
      sound_ = false;
      return;
    }
    std::copy(
        values.begin(), values.end(),
        buffer(remote ? slice.peer : rank, true).begin() + static_cast<std::ptrdiff_t>(offset));
  }

  const Plan& plan_;
  const Geometry& geometry_;
  const Layout layout_;
  const std::uint64_t section_;
  const T poison_;
  const T scale_;
  const bool in_place_;
  std::vector<Rank> ranks_;
  std::map<Ends, std::deque<Message>> fifos_;
  std::map<Ends, int> signals_;
  bool sound_ = true;
};

}  // namespace gyre::plan

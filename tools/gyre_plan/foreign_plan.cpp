// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/foreign_plan.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "collectives/goal.h"
#include "collectives/layout.h"
#include "collectives/steps.h"
#include "collectives/verifier.h"
#include "gyre_plan/foreign_memory.h"

namespace gyre::tool {
namespace {

using Kind = ForeignAction::Kind;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

// Runs all threads of all ranks and writes down what they do.
class Merge {
 public:
  Merge(const ForeignPlan& foreign, plan::Plan& plan)
      : foreign_(foreign), plan_(plan), memory_(foreign), next_(foreign.ranks.size()) {
    for (std::size_t rank = 0; rank < next_.size(); ++rank) {
      next_[rank].resize(foreign.ranks[rank].threads.size());
    }
  }

  Status run() {
    while (!ended()) {
      const auto moved = pass();
      if (!moved) return Unexpected(moved.error());
      if (!*moved) return stuck();
    }
    return fill_outputs();
  }

 private:
  struct InFlight {
    int channel;
    ForeignValue value;
  };
  using Pair = std::pair<int, int>;  // sender, receiver
  using Queues = std::map<Pair, std::deque<InFlight>>;

  // The action that a thread is at; null at its end.
  [[nodiscard]] const ForeignAction* action_of(int rank, std::size_t thread) const {
    const auto& actions = foreign_.ranks[at(rank)].threads[thread];
    const std::size_t next = next_[at(rank)][thread];
    return next < actions.size() ? &actions[next] : nullptr;
  }

  [[nodiscard]] bool ended() const {
    for (std::size_t rank = 0; rank < next_.size(); ++rank) {
      for (std::size_t thread = 0; thread < next_[rank].size(); ++thread) {
        if (action_of(static_cast<int>(rank), thread) != nullptr) return false;
      }
    }
    return true;
  }

  // One action of each thread that can. One at a time, so that what several channels carry arrives
  // in the order in which it is wanted, as far as the threads of both sides are alike.
  Result<bool> pass() {
    bool moved = false;
    for (int rank = 0; rank < static_cast<int>(next_.size()); ++rank) {
      for (std::size_t thread = 0; thread < next_[at(rank)].size(); ++thread) {
        const ForeignAction* const action = action_of(rank, thread);
        if (action == nullptr || !why_blocked(rank, *action).empty()) continue;
        if (const Status status = perform(rank, thread, *action); !status) {
          return fail(status.error().code, fmt::format("At {}: {}", locate(rank, thread, *action),
                                                       status.error().message));
        }
        moved = true;
      }
    }
    return moved;
  }

  // Empty when it can go on.
  [[nodiscard]] std::string why_blocked(int rank, const ForeignAction& action) const {
    for (const ForeignAction::Need& need : action.needs) {
      const ForeignAction* const other = action_of(rank, at(need.thread));
      if (other != nullptr && other->step <= need.step) {
        return fmt::format("it waits for step {} of thread block {}", need.step, need.thread);
      }
    }
    if (action.kind == Kind::barrier) {
      return at_barrier(rank, action.channel) == action.members ? "" : "it waits at a barrier";
    }
    if (action.kind == Kind::await) {
      return oldest(signals_, {action.peer, rank}, action.channel, "a signal");
    }
    for (const ForeignOperand& operand : action.from) {
      const auto* const message = std::get_if<ForeignMessage>(&operand);
      std::string why = message == nullptr ? ""
                                           : oldest(messages_, {message->peer, rank},
                                                    message->channel, "a message");
      if (!why.empty()) return why;
    }
    return {};
  }

  // Empty when the oldest in the queue came over the wanted channel.
  static std::string oldest(const Queues& queues, Pair pair, int wanted, std::string_view what) {
    const auto found = queues.find(pair);
    if (found == queues.end() || found->second.empty()) {
      return fmt::format("it waits for {} of rank {}", what, pair.first);
    }
    const int channel = found->second.front().channel;
    if (channel == wanted) return {};
    return fmt::format(
        "it waits for {} of rank {} over channel {}, and the oldest that is there "
        "came over channel {}: in Gyre all that one rank sends another is one queue",
        what, pair.first, wanted, channel);
  }

  [[nodiscard]] int at_barrier(int rank, int barrier) const {
    int count = 0;
    for (std::size_t thread = 0; thread < next_[at(rank)].size(); ++thread) {
      const ForeignAction* const action = action_of(rank, thread);
      count += action != nullptr && action->kind == Kind::barrier && action->channel == barrier;
    }
    return count;
  }

  Status perform(int rank, std::size_t thread, const ForeignAction& action) {
    plan::Program& program = plan_.programs[at(rank)];
    switch (action.kind) {
      case Kind::nothing:
        break;
      case Kind::move:
        GYRE_TRY(move(rank, action));
        break;
      case Kind::signal:
        program.push_back(plan::build::signal(action.peer));
        signals_[{rank, action.peer}].push_back({action.channel, {}});
        break;
      case Kind::await:
        program.push_back(plan::build::await(action.peer));
        signals_[{action.peer, rank}].pop_front();
        break;
      case Kind::barrier:
        pass_barrier(rank, action.channel);
        return {};
    }
    ++next_[at(rank)][thread];
    return {};
  }

  void pass_barrier(int rank, int barrier) {
    for (std::size_t thread = 0; thread < next_[at(rank)].size(); ++thread) {
      const ForeignAction* const action = action_of(rank, thread);
      if (action != nullptr && action->kind == Kind::barrier && action->channel == barrier) {
        ++next_[at(rank)][thread];
      }
    }
  }

  Status move(int rank, const ForeignAction& action) {
    plan::Program& program = plan_.programs[at(rank)];
    plan::Step step;
    ForeignValue value;
    std::vector<int> senders;
    for (const ForeignOperand& operand : action.from) {
      auto got = take(rank, operand);
      if (!got) return Unexpected(got.error());
      if (got->slice.place == plan::Place::slot) senders.push_back(got->slice.peer);
      step.sources.push_back(got->slice);
      add(value, got->value, step.sources.size() == 1);
    }
    complete(step, value);
    for (const ForeignOperand& operand : action.to) {
      const auto slice = give(rank, operand, value);
      if (!slice) return Unexpected(slice.error());
      step.destinations.push_back(*slice);
    }
    for (const int sender : senders) program.push_back(plan::build::wait(sender));
    program.push_back(std::move(step));
    for (const int sender : senders) program.push_back(plan::build::release(sender));
    return {};
  }

  Result<ForeignMemory::Read> take(int rank, const ForeignOperand& operand) {
    if (const auto* const chunk = std::get_if<ForeignChunk>(&operand)) {
      return memory_.read(rank, *chunk);
    }
    const int peer = std::get<ForeignMessage>(operand).peer;
    std::deque<InFlight>& queue = messages_[{peer, rank}];
    if (queue.empty()) {
      return fail(Code::not_supported,
                  fmt::format("It takes two messages of rank {} at once.", peer));
    }
    ForeignMemory::Read read{{plan::Place::slot, queue.front().value.block, peer},
                             std::move(queue.front().value)};
    queue.pop_front();
    return read;
  }

  static void add(ForeignValue& to, const ForeignValue& other, bool first) {
    if (first) {
      to = other;
      return;
    }
    for (std::size_t rank = 0; rank < to.from.size(); ++rank) {
      to.from[rank] = to.from[rank] || other.from[rank];
    }
  }

  // The step in which the last contribution has come in says so.
  void complete(plan::Step& step, ForeignValue& value) const {
    step.completes = plan::reduces(plan_.collective) && !value.complete &&
                     std::find(value.from.begin(), value.from.end(), false) == value.from.end();
    value.complete = value.complete || step.completes;
  }

  Result<plan::Slice> give(int rank, const ForeignOperand& operand, const ForeignValue& value) {
    if (const auto* const chunk = std::get_if<ForeignChunk>(&operand)) {
      return memory_.write(rank, *chunk, value);
    }
    const auto& message = std::get<ForeignMessage>(operand);
    messages_[{rank, message.peer}].push_back({message.channel, value});
    return plan::build::peer_slot(message.peer, value.block);
  }

  // Outputs that in place are there from the beginning, as a rank's own section in AllGather.
  Status fill_outputs() {
    plan_.scratch_blocks = memory_.scratch_blocks();
    const auto goal = plan::goal_of(plan_);
    if (!goal) return Unexpected(goal.error());
    for (int rank = 0; foreign_.in_place && rank < plan_.ranks; ++rank) {
      for (int block = 0; block < plan_.blocks; ++block) {
        if (!goal->wanted(rank, block) || !goal->has_input(rank, block) ||
            memory_.is_written(rank, block)) {
          continue;
        }
        plan_.programs[at(rank)].push_back(
            plan::build::combine({plan::build::input(block)}, {plan::build::output(block)}));
      }
    }
    return {};
  }

  [[nodiscard]] static std::string locate(int rank, std::size_t thread,
                                          const ForeignAction& action) {
    return fmt::format("gpu {}, thread block {}, step {}", rank, thread, action.step);
  }

  [[nodiscard]] Unexpected stuck() const {
    for (std::size_t rank = 0; rank < next_.size(); ++rank) {
      for (std::size_t thread = 0; thread < next_[rank].size(); ++thread) {
        const ForeignAction* const action = action_of(static_cast<int>(rank), thread);
        if (action == nullptr) continue;
        return fail(Code::invalid_argument,
                    fmt::format("No thread can go on. At {}: {}.",
                                locate(static_cast<int>(rank), thread, *action),
                                why_blocked(static_cast<int>(rank), *action)));
      }
    }
    return fail(Code::internal_error, "No thread is left, and none can go on.");
  }

  const ForeignPlan& foreign_;
  plan::Plan& plan_;
  ForeignMemory memory_;
  std::vector<std::vector<std::size_t>> next_;  // by rank and thread: the next action
  Queues messages_;
  Queues signals_;  // without values
};

// The least number of slots with which the plan is right, and whether it may run in place.
Status settle(plan::Plan& plan) {
  constexpr int plenty = 4096;
  const bool direct = plan.protocol == plan::Protocol::direct;
  Status status = plan::verify(plan, {.tiles = 2, .slots = plenty});
  if (!status) {
    plan.in_place_safe = false;
    // The reason for the refusal is that of the usual form, unless this was it.
    if (plan::verify(plan, {.tiles = 2, .slots = plenty})) status = {};
  }
  GYRE_TRY(status);
  for (const int slots : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, plenty}) {
    plan.slots = slots;
    if (direct || plan::verify(plan, {.tiles = 2, .slots = slots})) return {};
  }
  return {};
}

// Names may hold anything; those of plans may not.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, 64)) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text += good || c == '.' || c == '+' || c == '-' ? c : '_';
  }
  return text.empty() ? "imported" : text;
}

}  // namespace

Result<plan::Plan> to_plan(const ForeignPlan& foreign) {
  const int ranks = static_cast<int>(foreign.ranks.size());
  plan::Plan plan;
  plan.name = plain(foreign.name);
  plan.collective = foreign.collective;
  plan.protocol = foreign.protocol;
  plan.ranks = ranks;
  plan.root = plan::has_root(foreign.collective) ? foreign.root : -1;
  plan.blocks = plan::layout_of(foreign.collective).sectioned ? ranks : foreign.chunks;
  plan.slots = 1;
  plan.programs.resize(foreign.ranks.size());
  GYRE_TRY(Merge(foreign, plan).run());
  GYRE_TRY(settle(plan));
  return plan;
}

Result<plan::Collective> foreign_collective(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, plan::Collective>, 11> names = {{
      {"allreduce", plan::Collective::all_reduce},
      {"all_reduce", plan::Collective::all_reduce},
      {"allgather", plan::Collective::all_gather},
      {"all_gather", plan::Collective::all_gather},
      {"reducescatter", plan::Collective::reduce_scatter},
      {"reduce_scatter", plan::Collective::reduce_scatter},
      {"alltoall", plan::Collective::all_to_all},
      {"all_to_all", plan::Collective::all_to_all},
      {"broadcast", plan::Collective::broadcast},
      {"reduce", plan::Collective::reduce},
      {"gather", plan::Collective::gather},
  }};
  const auto* const found = std::find_if(names.begin(), names.end(),
                                         [&](const auto& each) { return each.first == name; });
  if (found != names.end()) return found->second;
  return fail(Code::not_supported,
              fmt::format("Its collective is \"{}\", which Gyre does not have.", name));
}

}  // namespace gyre::tool

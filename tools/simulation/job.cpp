// SPDX-License-Identifier: Apache-2.0
#include "simulation/job.h"

#include <algorithm>

#include <fmt/format.h>

#include "simulation/sizes.h"

namespace gyre::simulation {

namespace sg4 = simgrid::s4u;

Job::Job(sg4::Engine& engine, const Experiment& experiment, Common common)
    : engine_(engine),
      experiment_(experiment),
      common_(std::move(common)),
      platform_(engine, experiment),
      costs_{.scale = common_.scale,
             .overhead = experiment.overhead,
             .agenda = &agenda_,
             .is_whole =
                 [this](int from, int to) {
                   return platform_.is_connected(from) && platform_.is_connected(to);
                 },
             .on_failure = [this](int from, int to) { on_lost_message(from, to); }} {
  Lane::follow_transfers();
  add_ranks();
  connect_all();
}

// One program at a time; what is kept of it is what its rank runs.
void Job::add_ranks() {
  for (int rank = 0; rank < experiment_.plan.ranks; ++rank) {
    ranks_.emplace_back(rank, experiment_.program_of(rank), common_);
  }
}

void Job::connect_all() {
  int number = 0;
  for (SimulatedRank& rank : ranks_) {
    for (const int peer : rank.neighbours()) {
      Lane& outgoing = lane(number, peer);
      rank.connect(outgoing, lane(peer, number));
    }
    ++number;
  }
}

Lane& Job::lane(int from, int to) {
  if (const auto found = lanes_.find({from, to}); found != lanes_.end()) {
    return found->second;
  }
  const auto end = [this](int rank) {
    return Lane::End{rank, platform_.host(rank),
                     &ranks_[static_cast<std::size_t>(rank)].doorbell()};
  };
  return lanes_
      .try_emplace({from, to}, end(from), end(to), platform_.latency(from, to), common_.shape,
                   costs_, traffic_)
      .first->second;
}

Report Job::run() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    sg4::Actor::create("rank", platform_.host(static_cast<int>(rank)),
                       [this, rank] { ranks_[rank].run(abort_); });
  }
  for (const Injection& injection : experiment_.injections) {
    sg4::Actor::create("injection", platform_.control_host(), [this, injection] {
      sg4::this_actor::sleep_until(injection.at);
      inject(injection);
    })->daemonize();
  }
  engine_.run();
  Report report{
      .messages = traffic_.messages, .bytes = traffic_.bytes, .scale = common_.scale, .ranks = {}};
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    report.ranks.push_back(report_of(static_cast<int>(rank)));
    report.seconds = std::max(report.seconds, report.ranks.back().seconds);
  }
  return report;
}

void Job::inject(const Injection& injection) {
  if (injection.what == Injection::What::link) {
    platform_.break_link_of(injection.rank);  // who uses it notices
    return;
  }
  platform_.break_host_of(injection.rank);
  // Its control connections end with it.
  fail(injection.rank,
       fmt::format("Rank {} died: its host failed after {:g} s.", injection.rank, injection.at));
}

// The death of a host is noticed by others.
void Job::on_lost_message(int from, int to) {
  if (!platform_.host(from)->is_on() || !platform_.host(to)->is_on()) {
    return;
  }
  const int culprit = platform_.is_connected(to) ? from : to;
  fail(culprit,
       fmt::format("The link of rank {} to its switch is down: after {:g} s a message from "
                   "rank {} to rank {} was lost.",
                   culprit, now(), from, to));
}

void Job::fail(int culprit, std::string text) {
  if (cause_) {
    return;
  }
  cause_ = Cause{culprit, std::move(text)};
  sg4::Actor::create("control", platform_.control_host(), [this] {
    sg4::this_actor::sleep_for(experiment_.notice);
    abort_.store(1);
    for (SimulatedRank& rank : ranks_) rank.doorbell().ring();
  });
}

RankReport Job::report_of(int rank) {
  const SimulatedRank& state = ranks_[static_cast<std::size_t>(rank)];
  if (!platform_.host(rank)->is_on()) {
    return {.seconds = 0,
            .error = fmt::format("Rank {} died: its host failed. Its output is lost.", rank),
            .culprit = rank};
  }
  if (!state.has_ended()) {
    return {.seconds = now(),
            .error = "It waits for ever: its plan is stuck. Verify the plan.",
            .culprit = -1};
  }
  if (state.outcome() == engine::Outcome::done) {
    return {.seconds = state.seconds(), .error = state.fault(), .culprit = -1};
  }
  return {.seconds = state.seconds(),
          .error = fmt::format("{} Rank {} was waiting for rank {}.", cause_->text, rank,
                               state.blamed()),
          .culprit = cause_->culprit};
}

namespace {

Status check(const Experiment& experiment) {
  const plan::Plan& plan = experiment.plan;
  if (plan.protocol == plan::Protocol::direct) {
    return fail(Code::not_supported,
                "A direct plan reads the mapped memory of its peers: there is none in a simulated "
                "network. Simulate a staged one, or estimate this one.");
  }
  if (plan.protocol == plan::Protocol::flag_in_line && plan.name != "oneshot") {
    return fail(
        Code::not_supported,
        "Small messages have no credits, so only plans can use them in which every two ranks "
        "exchange one: oneshot. Simulate the staged plan.");
  }
  for (const Injection& injection : experiment.injections) {
    if (injection.rank < 0 || injection.rank >= plan.ranks) {
      return fail(Code::invalid_argument, fmt::format("There is no rank {} to fail: ranks are 0 to "
                                                      "{}.",
                                                      injection.rank, plan.ranks - 1));
    }
  }
  const bool positive = experiment.bandwidth > 0 && experiment.latency >= 0 &&
                        experiment.channels > 0 && experiment.slots > 0 && plan.ranks > 0;
  return positive ? Status()
                  : fail(Code::invalid_argument,
                         "Bandwidth, ranks, channels and slots must be positive.");
}

}  // namespace

Result<Report> simulate_here(const Experiment& experiment) {
  GYRE_TRY(check(experiment));
  const plan::Plan& plan = experiment.plan;
  const Sizes sizes = choose_sizes(experiment, plan);
  const plan::Geometry geometry = geometry_of(experiment, plan, sizes);
  auto payload = Payload::make(plan, sizes.count);
  if (!payload) {
    return Unexpected(std::move(payload).error());
  }
  const std::uint64_t largest =
      geometry.tiles() > 0 ? geometry.block(0, 0).length * element_bytes : 0;
  const bool in_line = plan.protocol == plan::Protocol::flag_in_line;
  if (in_line && geometry.tiles() > 1) {
    return fail(
        Code::invalid_argument,
        "Small messages are sent whole: with this protocol the chunk must be as long as the "
        "buffer.");
  }
  Common common{.plan = plan,
                .geometry = geometry,
                .shape = {.channels = experiment.channels,
                          .slots = std::max(experiment.slots, static_cast<int>(plan.slots)),
                          .slot_bytes = largest,
                          .inline_bytes = in_line ? largest : 0},
                .payload = *std::move(payload),
                .scale = sizes.scale,
                .reduce_per_byte = experiment.reduce_per_byte};
  std::vector<std::string> arguments = engine_arguments();
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  sg4::Engine engine(&count, pointers.data());
  return Job(engine, experiment, std::move(common)).run();
}

}  // namespace gyre::simulation

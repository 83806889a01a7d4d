// SPDX-License-Identifier: Apache-2.0
#include "simulation/simulated_rank.h"

#include <algorithm>
#include <utility>

namespace gyre::simulation {

namespace {

constexpr std::uint32_t tag = 0x9a7e;  // there is one call

void find_peers(const plan::Program& program, std::vector<int>& peers) {
  for (const plan::Step& step : program) {
    if (step.kind != plan::StepKind::combine) peers.push_back(step.peer);
    for (const plan::Slice& slice : step.destinations) {
      if (slice.place == plan::Place::peer_slot) peers.push_back(slice.peer);
    }
  }
  std::ranges::sort(peers);
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
}

// The peers of the program, numbered by their place among the neighbours.
plan::Program renumber(plan::Program program, const std::vector<int>& neighbours) {
  const auto rename = [&](std::int32_t& peer) {
    if (peer < 0) return;
    const auto place = std::ranges::lower_bound(neighbours, peer) - neighbours.begin();
    peer = static_cast<std::int32_t>(place);
  };
  for (plan::Step& step : program) {
    rename(step.peer);
    for (plan::Slice& slice : step.destinations) rename(slice.peer);
    for (plan::Slice& slice : step.sources) rename(slice.peer);
  }
  return program;
}

std::vector<int> neighbours_in(const plan::Program& program) {
  std::vector<int> peers;
  find_peers(program, peers);
  return peers;
}

// Takes the time that a reduction of the simulated bytes takes.
void add_in_time(const void* in, void* inout, std::size_t count, gyreDataType_t /*type*/,
                 void* context) {
  const Common& common = *static_cast<const Common*>(context);
  const auto bytes = static_cast<double>(count * sizeof(Payload::Element) * common.scale);
  simgrid::s4u::this_actor::sleep_for(bytes * common.reduce_per_byte);
  const auto* const from = static_cast<const Payload::Element*>(in);
  auto* const to = static_cast<Payload::Element*>(inout);
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

engine::Reduction reduction_of(Common& common) {
  engine::Reduction reduction{.type = DataType::uint32, .op = ReduceOp::sum};
  if (common.reduce_per_byte > 0) {
    reduction.user = {.function = add_in_time, .context = &common};
  }
  return reduction;
}

}  // namespace

SimulatedRank::SimulatedRank(int rank, plan::Program program, Common& common)
    : rank_(rank),
      common_(common),
      neighbours_(neighbours_in(program)),
      program_(renumber(std::move(program), neighbours_), common.plan.protocol,
               plan::layout_of(common.plan.collective).sectioned) {}

void SimulatedRank::run(const std::atomic<std::uint32_t>& abort) {
  const Payload& payload = common_.payload;
  std::vector<Payload::Element> input(payload.input_elements());
  std::vector<Payload::Element> output(payload.output_elements(), 0xdeadbeef);
  payload.fill_input(rank_, input);

  std::vector<transport::Connection*> connections;
  for (SimulatedConnection& connection : connections_) connections.push_back(&connection);
  engine::Executor executor(connections, common_.shape);
  engine::Combiner combiner(reduction_of(common_), static_cast<int>(connections.size()) + 1);
  SimulatedClock clock;
  // Whoever waits sleeps at once.
  engine::Waiter waiter({.spin_ns = 0, .yield_ns = 0, .polls_before_clock = 1}, clock, &doorbell_,
                        abort);
  const plan::Layout layout = plan::layout_of(common_.plan.collective);
  const std::uint64_t section = common_.payload.section_bytes();
  const engine::Operands operands{.input = reinterpret_cast<const std::byte*>(input.data()),
                                  .output = reinterpret_cast<std::byte*>(output.data()),
                                  .input_stride = layout.input_sections ? section : 0,
                                  .output_stride = layout.output_sections ? section : 0,
                                  .tag = tag};
  outcome_ = executor.run(program_, common_.geometry, combiner, operands, waiter);
  seconds_ = now();
  has_ended_ = true;
  if (outcome_ == engine::Outcome::done) {
    fault_ = payload.find_fault(rank_, output).value_or("");
  } else if (executor.blamed() >= 0) {
    blamed_ = neighbours_[static_cast<std::size_t>(executor.blamed())];
  }
}

}  // namespace gyre::simulation

// SPDX-License-Identifier: Apache-2.0
// Written by hand, not by a JSON library, for the sake of the line breaks.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "collectives/algorithm.h"
#include "collectives/plan_json.h"
#include "collectives/plan_json_names.h"

namespace gyre::plan {

namespace {

using Buffer = fmt::memory_buffer;

template <typename... Values>
void add(Buffer& out, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
}

void add_slice(Buffer& out, const Slice& slice) {
  const auto* const row =
      std::find_if(std::begin(place_names), std::end(place_names),
                   [&](const PlaceName& name) { return name.place == slice.place; });
  add(out, "{{\"{}\": {}", row->name, slice.block);
  if (row->has_peer) add(out, ", \"peer\": {}", slice.peer);
  add(out, "}}");
}

void add_slices(Buffer& out, std::string_view key, const std::vector<Slice>& slices) {
  add(out, "\"{}\": [", key);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (i > 0) add(out, ", ");
    add_slice(out, slices[i]);
  }
  add(out, "]");
}

void add_step(Buffer& out, const Step& step) {
  if (step.kind != StepKind::combine) {
    const auto* const row =
        std::find_if(std::begin(step_names), std::end(step_names),
                     [&](const StepName& name) { return name.kind == step.kind; });
    add(out, "{{\"{}\": {}}}", row->name, step.peer);
    return;
  }
  add(out, "{{");
  add_slices(out, "combine", step.sources);
  add(out, ", ");
  add_slices(out, "to", step.destinations);
  add(out, "{}}}", step.completes ? ", \"complete\": true" : "");
}

void add_program(Buffer& out, const Program& program) {
  add(out, "  [");
  for (std::size_t i = 0; i < program.size(); ++i) {
    add(out, "{}\n   ", i > 0 ? "," : "");
    add_step(out, program[i]);
  }
  add(out, "]");
}

}  // namespace

// The name has no character that JSON would escape: parse_plan admits none, and builders use none.
std::string to_json(const Plan& plan) {
  Buffer out;
  add(out, "{{\"gyre_plan\": {},\n \"name\": \"{}\",\n", plan_json_version, plan.name);
  add(out, " \"collective\": \"{}\",\n \"protocol\": \"{}\",\n", name_of(plan.collective),
      name_of(plan.protocol));
  add(out, " \"ranks\": {},\n", plan.ranks);
  if (plan.root >= 0) add(out, " \"root\": {},\n", plan.root);
  add(out, " \"blocks\": {},\n \"slots\": {},\n \"in_place_safe\": {},\n", plan.blocks, plan.slots,
      plan.in_place_safe);
  add(out, " \"programs\": [\n");
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    if (rank > 0) add(out, ",\n");
    add_program(out, plan.programs[rank]);
  }
  add(out, "]}}\n");
  return fmt::to_string(out);
}

}  // namespace gyre::plan

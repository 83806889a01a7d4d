// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/dot.h"

#include <iterator>

#include <fmt/format.h>

#include "collectives/algorithm.h"
#include "collectives/text.h"
#include "gyre_plan/links.h"

namespace gyre::tool {
namespace {

using Buffer = fmt::memory_buffer;

template <typename... Values>
void add(Buffer& out, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
}

// Steps that touch only this rank are plain, those that wait are grey.
std::string_view fill_of(const plan::Step& step) {
  switch (step.kind) {
    case plan::StepKind::wait:
    case plan::StepKind::await:
      return "grey90";
    case plan::StepKind::combine:
      return step.completes ? "palegreen" : "white";
    default:
      return "white";
  }
}

// What is written on a line of its own.
std::string label_of(const plan::Step& step) {
  std::string text = plan::to_text(step);
  if (const std::size_t arrow = text.find(" -> "); arrow != std::string::npos) {
    text.replace(arrow, 1, "\\n");
  }
  return text;
}

void add_lane(Buffer& out, const plan::Program& program, std::size_t rank) {
  add(out, "  subgraph cluster_{} {{\n    label=\"rank {}\"; color=grey70;\n", rank, rank);
  add(out, "    r{}_start [label=\"\", shape=point];\n", rank);
  for (std::size_t step = 0; step < program.size(); ++step) {
    add(out, "    r{}_{} [label=\"{}: {}\", fillcolor={}];\n", rank, step, step,
        label_of(program[step]), fill_of(program[step]));
  }
  // Program order: heavy edges keep the lane straight.
  add(out, "    r{}_start", rank);
  for (std::size_t step = 0; step < program.size(); ++step) add(out, " -> r{}_{}", rank, step);
  add(out, " [weight=100, color=grey70, arrowhead=none];\n  }}\n");
}

}  // namespace

std::string to_dot(const plan::Plan& plan) {
  Buffer out;
  add(out, "digraph plan {{\n  label=\"{} {}, {} ranks\"; labelloc=t; fontname=sans;\n",
      plan::name_of(plan.collective), plan::title(plan), plan.ranks);
  add(out, "  node [shape=box, style=filled, fillcolor=white, fontname=sans, fontsize=10];\n");
  add(out, "  edge [fontname=sans, fontsize=9];\n");
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    add_lane(out, plan.programs[rank], rank);
  }
  for (const Link& link : links_of(plan)) {
    const std::string attributes =
        link.is_signal ? "style=dashed, color=grey40"
                       : fmt::format("label=\"{}\", color=blue, fontcolor=blue", link.block);
    add(out, "  r{}_{} -> r{}_{} [{}];\n", link.from.rank, link.from.step, link.to.rank,
        link.to.step, attributes);
  }
  add(out, "}}\n");
  return fmt::to_string(out);
}

}  // namespace gyre::tool

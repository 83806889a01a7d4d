// SPDX-License-Identifier: Apache-2.0
// gyre-plan draw: a plan as a drawing, for Graphviz or by it.
#include <cerrno>
#include <cstdio>
#include <memory>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "gyre_plan/commands.h"
#include "gyre_plan/dot.h"
#include "gyre_plan/plan_options.h"

namespace gyre::tool {
namespace {

struct DrawCommand {
  PlanOptions plan;
  bool svg = false;
};

// Graphviz' dot reads the drawing and writes the picture to our standard output.
Status draw_by_graphviz(const std::string& dot) {
  std::fflush(stdout);
  // Without dot the text is read all the same: nobody writes into a closed pipe.
  std::FILE* const pipe = ::popen(
      "if command -v dot >/dev/null; then exec dot -Tsvg; else cat >/dev/null; exit 1; fi", "w");
  if (pipe == nullptr) return system_failure("popen(\"dot\")");
  std::fwrite(dot.data(), 1, dot.size(), pipe);
  if (::pclose(pipe) == 0) return {};
  return fail(Code::not_supported,
              "`dot` of Graphviz is not there or has failed. Install graphviz, or leave out --svg "
              "and draw the output elsewhere.");
}

Status draw(const DrawCommand& options) {
  const auto plan = load_plan(options.plan);
  if (!plan) return Unexpected(plan.error());
  const std::string dot = to_dot(*plan);
  if (options.svg) return draw_by_graphviz(dot);
  fmt::print("{}", dot);
  return {};
}

}  // namespace

void add_draw_command(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("draw", "A plan as a drawing: a lane for each rank (Graphviz dot)");
  const auto options = std::make_shared<DrawCommand>();
  add_plan_options(*command, options->plan);
  command->add_flag("--svg", options->svg, "As SVG, drawn by Graphviz");
  set_body(*command, [options] { return draw(*options); });
}

}  // namespace gyre::tool

// SPDX-License-Identifier: Apache-2.0
// gyre-plan: what Gyre's plans are. `gyre-plan --help` lists the subcommands.
#include <CLI/CLI.hpp>

#include "gyre_plan/commands.h"

int main(int argc, char** argv) {
  CLI::App app("Shows, checks and converts plans: collectives compiled to data.", "gyre-plan");
  app.require_subcommand(1);
  gyre::tool::add_list_command(app);
  gyre::tool::add_print_command(app);
  gyre::tool::add_draw_command(app);
  gyre::tool::add_verify_command(app);
  gyre::tool::add_compare_command(app);
  gyre::tool::add_explain_command(app);
  gyre::tool::add_import_command(app);
  gyre::tool::add_estimate_command(app);
  gyre::tool::add_simulate_command(app);
  gyre::tool::add_export_command(app);
  CLI11_PARSE(app, argc, argv);
  return 0;
}

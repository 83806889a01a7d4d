// SPDX-License-Identifier: Apache-2.0
// The subcommands of gyre-plan: each adds itself, in a file of its own.
#pragma once

namespace CLI {
class App;
}

namespace gyre::tool {

void add_list_command(CLI::App& app);
void add_print_command(CLI::App& app);
void add_draw_command(CLI::App& app);
void add_verify_command(CLI::App& app);
void add_compare_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_import_command(CLI::App& app);
void add_estimate_command(CLI::App& app);
void add_simulate_command(CLI::App& app);
void add_export_command(CLI::App& app);

}  // namespace gyre::tool

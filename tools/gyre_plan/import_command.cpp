// SPDX-License-Identifier: Apache-2.0
// gyre-plan import: a plan of MSCCL or MSCCL++ as one of Gyre.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text_file.h"
#include "collectives/plan_json.h"
#include "gyre_plan/commands.h"
#include "gyre_plan/msccl_xml.h"
#include "gyre_plan/mscclpp_json.h"
#include "gyre_plan/plan_options.h"

namespace gyre::tool {
namespace {

struct ImportCommand {
  std::string file;
  int root = 0;
};

Result<plan::Plan> import(const ImportCommand& options, std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool xml = first != std::string_view::npos && text[first] == '<';
  const auto foreign =
      xml ? read_msccl_xml(text, options.root) : read_mscclpp_json(text, options.root);
  if (!foreign) return Unexpected(foreign.error());
  return to_plan(*foreign);
}

Status run(const ImportCommand& options) {
  const auto text = read_text_file(options.file, plan::most_plan_bytes);
  if (!text) return Unexpected(text.error());
  const auto plan = import(options, *text);
  if (!plan) {
    return fail(plan.error().code,
                fmt::format("{} cannot be imported. {}", options.file, plan.error().message));
  }
  fmt::print("{}", plan::to_json(*plan));
  return {};
}

}  // namespace

void add_import_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(
      "import", "A plan of MSCCL (XML) or MSCCL++ (JSON) as one of Gyre, proved right");
  const auto options = std::make_shared<ImportCommand>();
  command->add_option("file", options->file, "The file")->required();
  command->add_option("--root", options->root, "Root, of collectives that have one")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  set_body(*command, [options] { return run(*options); });
}

}  // namespace gyre::tool

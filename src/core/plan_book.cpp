// SPDX-License-Identifier: Apache-2.0
#include "core/plan_book.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "collectives/plan_json.h"
#include "collectives/verifier.h"

namespace gyre::core {
namespace {

// Bit i of a step's mask of contributions is its source i (engine/compiled_program.h).
constexpr std::size_t most_sources = 64;
// Of the working memory of a rank.
constexpr std::uint64_t most_scratch_bytes = std::uint64_t{1} << 30;

// What the executor asks of a plan beyond its being right. Empty, or why it cannot run.
std::string why_it_cannot_run(const plan::Plan& plan, const transport::Shape& shape) {
  if (plan.protocol == plan::Protocol::flag_in_line) {
    return "Messages in lines are only for Gyre's own one-shot plans. Use the protocol staged.";
  }
  if (plan.protocol == plan::Protocol::direct) return {};
  if (!plan.in_place_safe) {
    return "Calls in place would run it too, and it is not right for them.";
  }
  if (plan.slots > shape.slots) {
    return fmt::format(
        "It needs {} slots in each FIFO, and there are {}. Set GYRE_SLOTS={} or more.", plan.slots,
        shape.slots, plan.slots);
  }
  const std::uint64_t scratch = static_cast<std::uint64_t>(plan.scratch_blocks) * shape.slot_bytes *
                                static_cast<std::uint64_t>(shape.all_channels());
  if (scratch > most_scratch_bytes) {
    return fmt::format(
        "Its {} scratch blocks would take {} bytes of each rank, and at most {} are given to it.",
        plan.scratch_blocks, scratch, most_scratch_bytes);
  }
  return {};
}

// The executor has room for a source of each rank and a destination more. Nothing else is of use: a value
// of more sources holds a contribution twice.
std::string why_steps_cannot_run(const plan::Plan& plan) {
  const auto ranks = static_cast<std::size_t>(plan.ranks);
  const std::size_t most_from = std::min(most_sources, ranks);
  const std::size_t most_to = ranks + 1;
  for (std::size_t rank = 0; rank < plan.programs.size(); ++rank) {
    const plan::Program& program = plan.programs[rank];
    const auto large = std::ranges::find_if(program, [&](const plan::Step& step) {
      return step.sources.size() > most_from || step.destinations.size() > most_to;
    });
    if (large != program.end()) {
      return fmt::format(
          "Rank {}, step {}: a step combines at most {} sources, and writes at most "
          "{} destinations.",
          rank, large - program.begin(), most_from, most_to);
    }
  }
  return {};
}

Status check(const plan::Plan& plan, const transport::Shape& shape) {
  GYRE_TRY(plan::verify(plan));
  std::string why = why_it_cannot_run(plan, shape);
  if (why.empty()) {
    why = why_steps_cannot_run(plan);
  }
  return why.empty() ? Status{}
                     : fail(Code::invalid_argument,
                            fmt::format("The plan {} is right, but cannot run here: {}",
                                        plan::title(plan), why));
}

std::vector<std::string> split(std::string_view files) {
  std::vector<std::string> paths;
  while (!files.empty()) {
    const std::size_t end = std::min(files.find(':'), files.size());
    if (end > 0) {
      paths.emplace_back(files.substr(0, end));
    }
    files.remove_prefix(std::min(end + 1, files.size()));
  }
  return paths;
}

}  // namespace

const UserPlan* PlanBook::find(plan::Collective collective, int root, bool direct) const {
  const auto found = std::ranges::find_if(plans_, [&](const UserPlan& plan) {
    return plan.heading.collective == collective && plan.heading.root == root &&
           (plan.heading.protocol == plan::Protocol::direct) == direct;
  });
  return found != plans_.end() ? &*found : nullptr;
}

void PlanBook::add(plan::Plan plan, int rank) {
  UserPlan user;
  user.reach = plan::reach_of(plan);
  user.program = std::move(plan.programs[static_cast<std::size_t>(rank)]);
  plan.programs.clear();
  plan.name = "file:" + plan.name;
  user.heading = std::move(plan);
  plans_.push_back(std::move(user));
}

Result<net::Bytes> gather_user_plans(std::string_view files, int ranks,
                                     const transport::Shape& shape) {
  std::vector<std::string> texts;
  for (const std::string& path : split(files)) {
    const auto plan = plan::read_plan_file(path);
    if (!plan) {
      return fail(plan.error().code, fmt::format("GYRE_PLAN_FILE: {}", plan.error().message));
    }
    if (plan->ranks != ranks) {
      log::info(log::Subsystem::tuning, "{} is for {} ranks: not used by this communicator of {}",
                path, plan->ranks, ranks);
      continue;
    }
    if (const Status status = check(*plan, shape); !status) {
      return fail(status.error().code,
                  fmt::format("GYRE_PLAN_FILE: {} is refused. {}", path, status.error().message));
    }
    log::info(log::Subsystem::tuning, "{}: {} was proved right for {} ranks", path,
              plan::title(*plan), ranks);
    texts.push_back(plan::to_json(*plan));
  }
  net::ByteWriter writer;
  writer.u32(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) {
    writer.text(text);
  }
  return writer.take();
}

Result<PlanBook> parse_user_plans(net::ByteView bytes, int rank) {
  net::ByteReader reader(bytes);
  PlanBook book;
  for (std::uint32_t left = reader.u32(); left > 0 && reader.valid(); --left) {
    auto plan = plan::parse_plan(reader.text());
    if (!plan) {
      return Unexpected(std::move(plan).error());
    }
    if (rank >= plan->ranks) {
      return fail(Code::internal_error,
                  fmt::format("Rank 0 handed out a plan for {} ranks.", plan->ranks));
    }
    book.add(std::move(*plan), rank);
  }
  if (!reader.complete()) {
    return fail(Code::internal_error, "What rank 0 handed out is no list of plans.");
  }
  return book;
}

}  // namespace gyre::core

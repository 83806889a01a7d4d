// SPDX-License-Identifier: Apache-2.0
#include "core/prepared.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "base/log.h"
#include "collectives/catalog.h"
#include "collectives/chooser.h"
#include "collectives/layout.h"
#include "collectives/ranking.h"

namespace gyre::core {
namespace {

bool combines_in_order(const engine::Reduction& reduction) {
  return reduction.user.function != nullptr && !reduction.user.commutative;
}

bool names_every_rank_in_a_step(std::optional<plan::Algorithm> algorithm) {
  return !algorithm || algorithm == plan::Algorithm::one_shot ||
         algorithm == plan::Algorithm::two_shot;
}

// Whether contributions must be combined in the order of ranks.
bool needs_order(const PrepareContext& context, const PrepareKey& key,
                 const engine::Reduction& reduction) {
  return combines_in_order(reduction) ||
         (context.settings.reproducible && plan::reduces(key.collective));
}

// The plan that the user brought for such calls, in mapped memory (`direct`) or through slots; or null.
// Nobody has proved that it keeps the order of ranks.
const UserPlan* users_plan(const PrepareContext& context, const PrepareKey& key,
                           const engine::Reduction& reduction, bool direct) {
  if (context.book == nullptr || needs_order(context, key, reduction)) {
    return nullptr;
  }
  return context.book->find(key.collective, key.root, direct);
}

// In place, a plan that the user brought for mapped memory may be wrong. Then the call is staged: whether
// all buffers are mapped was asked for that plan only.
bool runs_direct(const PrepareContext& context, const PrepareKey& key,
                 const engine::Reduction& reduction) {
  const UserPlan* const own = users_plan(context, key, reduction, true);
  return key.direct && (own == nullptr || own->heading.in_place_safe || !key.in_place);
}

// Staged even where it is small: only then the ranks ask each other whether all of them have mapped
// buffers.
bool must_be_staged(const PrepareContext& context, const PrepareKey& key,
                    const engine::Reduction& reduction, const plan::ChoiceInput& input) {
  if (input.direct_possible) {
    return false;
  }
  const bool in_line = input.protocol == plan::Protocol::flag_in_line ||
                       input.bytes <= plan::choice_limits.inline_bytes;
  return input.protocol == plan::Protocol::direct ||
         (in_line && users_plan(context, key, reduction, true) != nullptr);
}

plan::ChoiceInput question(const PrepareContext& context, const PrepareKey& key,
                           const engine::Reduction& reduction) {
  plan::ChoiceInput input{.bytes = key.count * size_of(key.type),
                          .element_bytes = size_of(key.type),
                          .ranks = context.ranks,
                          .local_cpus = static_cast<int>(context.cpus),
                          .direct_possible = runs_direct(context, key, reduction),
                          .in_place = key.in_place,
                          .reproducible = context.settings.reproducible,
                          .algorithm = plan::parse_algorithm(context.settings.algorithm),
                          .protocol = plan::parse_protocol(context.settings.protocol),
                          .chunk_bytes = static_cast<std::uint64_t>(context.settings.chunk_bytes),
                          .channels = static_cast<int>(context.settings.channels)};
  if (must_be_staged(context, key, reduction, input)) {
    input.protocol = plan::Protocol::staged;
  }
  input.costs = context.costs;
  // All ranks of a communicator are on one host so far: one level, whose steps name all its ranks.
  input.hierarchy = {.levels = {std::min(context.ranks, plan::choice_limits.most_sources)}};
  if (context.ranks <= plan::choice_limits.most_sources) {
    input.hierarchy.across = plan::Algorithm::two_shot;
  }
  if (context.ranks > plan::choice_limits.most_sources &&
      names_every_rank_in_a_step(input.algorithm)) {
    input.algorithm = plan::Algorithm::ring;
  }
  input.keeps_order = combines_in_order(reduction);
  return input;
}

// What this communicator's connections can carry.
Status fit(plan::Choice& choice, const transport::Shape& shape) {
  if (choice.protocol == plan::Protocol::flag_in_line) {
    if (choice.algorithm != plan::Algorithm::one_shot) {
      return fail(Code::invalid_usage,
                  fmt::format("GYRE_ALGO={} cannot run over GYRE_PROTO=inline: only oneshot can.",
                              plan::name_of(choice.algorithm)));
    }
    choice.channels = 1;
    choice.slot_bytes = std::min<std::uint64_t>(choice.slot_bytes, shape.inline_bytes);
  } else {
    choice.channels = std::min(choice.channels, shape.channels);
    choice.slot_bytes = std::min<std::uint64_t>(choice.slot_bytes, shape.slot_bytes);
  }
  return {};
}

// Calls of which all messages fit in small slots use those: their few lines stay in the first-level
// cache from call to call. The shortest share a line with their flag.
int first_channel(const plan::Choice& choice, int slots, std::uint64_t bytes,
                  const transport::Shape& shape) {
  if (choice.protocol != plan::Protocol::staged) {
    return 0;
  }
  if (slots <= shape.line_slots && choice.channels <= shape.line_channels &&
      bytes <= transport::line_bytes) {
    return shape.first_line();
  }
  const bool small =
      slots <= shape.small_slots && choice.channels <= shape.small_channels &&
      choice.slot_bytes <= shape.small_slot_bytes &&
      bytes <= shape.small_slot_bytes * static_cast<std::uint64_t>(shape.small_slots);
  return small ? shape.first_small() : 0;
}

// What runs, and how.
struct Selection {
  plan::Choice choice;
  plan::Plan heading;  // without programs
  plan::Program program;
};

Result<plan::Choice> choose(const PrepareContext& context, const Call& call,
                            const plan::ChoiceInput& input) {
  const auto choice = plan::choose(call.collective, input);
  if (!choice || context.tuner.function == nullptr || context.ranks == 1) {
    return choice;
  }
  plan::ChoiceInput tuned = input;
  const auto changed = consult(context.tuner, call, *choice, tuned);
  if (!changed) {
    return Unexpected(changed.error());
  }
  return *changed ? plan::choose(call.collective, tuned) : choice;
}

// What the cost model expects of the best few, for the log; empty without it.
std::string describe_candidates(plan::Collective collective, const plan::ChoiceInput& input) {
  constexpr std::size_t most = 4;
  if (!log::enabled(log::Level::info, log::Subsystem::tuning) || input.direct_possible) {
    return {};
  }
  std::string text;
  std::size_t named = 0;
  for (const plan::Candidate& candidate : plan::rank_candidates(collective, input)) {
    if (named++ == most) {
      break;
    }
    text += fmt::format("{}{} {:.1f} us", text.empty() ? " (expected: " : ", ",
                        plan::name_of(candidate.choice.algorithm), candidate.seconds * 1e6);
  }
  return text.empty() ? text : text + ")";
}

Result<Selection> select(const PrepareContext& context, const PrepareKey& key, const Call& call,
                         const engine::Reduction& reduction, const plan::ChoiceInput& input) {
  Selection selection;
  const UserPlan* const own = users_plan(context, key, reduction, input.direct_possible);
  if (own != nullptr) {
    selection = {plan::choose_sizes(own->heading, input), own->heading, own->program};
  } else {
    const auto choice = choose(context, call, input);
    if (!choice) {
      return Unexpected(choice.error());
    }
    plan::Recipe recipe = plan::recipe_of(key.collective, *choice, input);
    recipe.root = key.root;
    selection = {*choice, plan::describe(recipe), plan::program_of(recipe, context.rank)};
  }
  GYRE_TRY(fit(selection.choice, context.shape));
  return selection;
}

// Whether a call of this kind may be done in mapped memory; all ranks answer alike.
bool direct_is_allowed(const PrepareContext& context, const PrepareKey& key,
                       const engine::Reduction& reduction, std::uint64_t bytes) {
  // What the user brought is what runs.
  if (users_plan(context, key, reduction, true) != nullptr) return true;
  if (users_plan(context, key, reduction, false) != nullptr) return false;
  const std::string& protocol = context.settings.protocol;
  return protocol == "direct" ||
         (protocol.empty() && plan::direct_pays(key.collective, context.ranks, bytes));
}

plan::Reach reach_of(const PrepareContext& context, const PrepareKey& key,
                     const engine::Reduction& reduction) {
  const UserPlan* const own = users_plan(context, key, reduction, true);
  return own != nullptr ? own->reach : plan::reach_of(key.collective);
}

// Only steps that name all ranks keep their order.
Status check_order(const PrepareContext& context, const PrepareKey& key,
                   const engine::Reduction& reduction) {
  if (!needs_order(context, key, reduction) || context.ranks <= plan::choice_limits.most_sources) {
    return {};
  }
  const std::string why = combines_in_order(reduction)
                              ? fmt::format("op {} is not commutative", key.op)
                              : "GYRE_REPRODUCIBLE=1 asks for the order of ranks";
  return fail(Code::not_supported,
              fmt::format("{}, which works up to {} ranks so far: this communicator has {}.", why,
                          plan::choice_limits.most_sources, context.ranks));
}

}  // namespace

Result<std::unique_ptr<Prepared>> prepare_collective(const PrepareContext& context,
                                                     const PrepareKey& key,
                                                     const engine::Reduction& reduction,
                                                     int common_op, bool same_scale) {
  const plan::ChoiceInput input = question(context, key, reduction);
  GYRE_TRY(check_order(context, key, reduction));
  Call call{.collective = key.collective,
            .type = key.type,
            .op = common_op,
            .root = key.root,
            .count = key.count};
  auto selection = select(context, key, call, reduction, input);
  if (!selection) {
    return Unexpected(std::move(selection).error());
  }
  const plan::Choice& choice = selection->choice;
  const plan::Plan& plan = selection->heading;
  const plan::Layout layout = plan::layout_of(key.collective);
  const std::uint64_t bytes = key.count * size_of(key.type);
  const bool direct = choice.protocol == plan::Protocol::direct;
  if (context.ranks > 1) {
    call.plan = plan.name.starts_with("file:")
                    ? pack_users_plan(choice.protocol, choice.channels)
                    : pack_plan(choice.algorithm, choice.protocol, choice.channels);
    call.chunk = direct ? 0 : static_cast<std::uint32_t>(choice.slot_bytes);
  }
  const int channel = first_channel(choice, plan.slots, bytes, context.shape);
  auto prepared = std::make_unique<Prepared>(Prepared{
      .key = key,
      .call = call,
      .encoded = encode(call),
      .tag = signature(call),
      .bytes = bytes,
      .direct_allowed =
          (same_scale || !reduction.scaled) && direct_is_allowed(context, key, reduction, bytes),
      .reach = reach_of(context, key, reduction),
      .first_channel = channel,
      .few_slots_do = plan.slots <= context.shape.few_slots_of(channel),
      .input_stride = layout.input_sections ? bytes : 0,
      .output_stride = layout.output_sections ? bytes : 0,
      .input_bytes =
          layout.input_sections ? bytes * static_cast<std::uint64_t>(context.ranks) : bytes,
      .output_bytes =
          layout.output_sections ? bytes * static_cast<std::uint64_t>(context.ranks) : bytes,
      .title = plan::title(plan),
      .program = engine::CompiledProgram(selection->program, choice.protocol, layout.sectioned),
      .geometry =
          plan::Geometry({.count = key.count,
                          .element_bytes = size_of(key.type),
                          .blocks = layout.sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks),
                          .slot_bytes = direct ? plan::unbounded_slot : choice.slot_bytes,
                          .channels = static_cast<std::uint64_t>(choice.channels)}),
      .combiner = engine::Combiner(reduction, context.ranks)});
  log::info(log::Subsystem::tuning, "{}: {}, {} channels, chunks of {} bytes: {}{}", describe(call),
            prepared->title, choice.channels, choice.slot_bytes, choice.reason,
            describe_candidates(key.collective, input));
  return prepared;
}

}  // namespace gyre::core

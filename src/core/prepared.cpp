// SPDX-License-Identifier: Apache-2.0
#include "core/prepared.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/log.h"
#include "collectives/catalog.h"
#include "collectives/chooser.h"
#include "collectives/layout.h"

namespace gyre::core {
namespace {

// A mask of contributions has 64 bits: programs that name every rank in one step end there.
constexpr int most_ranks_in_a_step = 64;

plan::ChoiceInput question(const PrepareContext& context, const PrepareKey& key,
                           const engine::Reduction& reduction) {
  plan::ChoiceInput input{.bytes = key.count * size_of(key.type),
                          .element_bytes = size_of(key.type),
                          .ranks = context.ranks,
                          .local_cpus = static_cast<int>(context.cpus),
                          .direct_possible = key.direct,
                          .in_place = key.in_place,
                          .algorithm = plan::parse_algorithm(context.settings.algorithm),
                          .protocol = plan::parse_protocol(context.settings.protocol),
                          .chunk_bytes = static_cast<std::uint64_t>(context.settings.chunk_bytes),
                          .channels = static_cast<int>(context.settings.channels)};
  if (input.protocol == plan::Protocol::direct && !key.direct) {
    input.protocol.reset();  // the part of a call, or the call, that is not in mapped memory
  }
  if (context.ranks > most_ranks_in_a_step) {
    input.algorithm = plan::Algorithm::ring;
  }
  input.keeps_order = reduction.user.function != nullptr && !reduction.user.commutative;
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
// cache from call to call.
int first_channel(const plan::Choice& choice, int slots, std::uint64_t bytes,
                  const transport::Shape& shape) {
  const bool small =
      slots <= shape.small_slots && choice.protocol == plan::Protocol::staged &&
      choice.channels <= shape.small_channels && choice.slot_bytes <= shape.small_slot_bytes &&
      bytes <= shape.small_slot_bytes * static_cast<std::uint64_t>(shape.small_slots);
  return small ? shape.channels : 0;
}

// The user's plan for such calls, or null. Nobody has proved that it keeps the order of ranks.
const UserPlan* user_plan(const PrepareContext& context, const PrepareKey& key,
                          const plan::ChoiceInput& input) {
  if (context.book == nullptr || input.keeps_order) {
    return nullptr;
  }
  const UserPlan* const plan = context.book->find(key.collective, key.root, key.direct);
  const bool fits = plan != nullptr && (plan->heading.in_place_safe || !key.in_place);
  return fits ? plan : nullptr;
}

// What runs, and how.
struct Selection {
  plan::Choice choice;
  plan::Plan heading;  // without programs
  plan::Program program;
};

Result<Selection> select(const PrepareContext& context, const PrepareKey& key,
                         const plan::ChoiceInput& input) {
  Selection selection;
  const UserPlan* const own = user_plan(context, key, input);
  if (own != nullptr) {
    selection = {plan::choose_sizes(own->heading, input), own->heading, own->program};
  } else {
    const auto choice = plan::choose(key.collective, input);
    if (!choice) {
      return Unexpected(choice.error());
    }
    const plan::Recipe recipe{key.collective, choice->algorithm, choice->protocol, context.ranks,
                              key.root};
    selection = {*choice, plan::describe(recipe), plan::program_of(recipe, context.rank)};
  }
  GYRE_TRY(fit(selection.choice, context.shape));
  return selection;
}

// Whether a call of this kind may be done in mapped memory; all ranks answer alike.
bool direct_is_allowed(const PrepareContext& context, const PrepareKey& key,
                       const plan::ChoiceInput& input, bool same_everywhere) {
  const std::string& protocol = context.settings.protocol;
  const std::uint64_t bytes = input.bytes;
  if (same_everywhere && context.book != nullptr && !input.keeps_order) {
    // What the user brought is what runs.
    if (context.book->find(key.collective, key.root, true) != nullptr) return true;
    if (context.book->find(key.collective, key.root, false) != nullptr) return false;
  }
  return same_everywhere &&
         (protocol == "direct" || (protocol.empty() && plan::direct_pays(context.ranks, bytes)));
}

}  // namespace

Result<std::unique_ptr<Prepared>> prepare_collective(const PrepareContext& context,
                                                     const PrepareKey& key,
                                                     const engine::Reduction& reduction,
                                                     int common_op, bool same_scale) {
  const plan::ChoiceInput input = question(context, key, reduction);
  if (input.keeps_order && context.ranks > most_ranks_in_a_step) {
    return fail(Code::not_supported,
                fmt::format("op {} is not commutative, which works up to {} ranks so far: this "
                            "communicator has {}.",
                            key.op, most_ranks_in_a_step, context.ranks));
  }
  auto selection = select(context, key, input);
  if (!selection) {
    return Unexpected(std::move(selection).error());
  }
  const plan::Choice& choice = selection->choice;
  const plan::Plan& plan = selection->heading;
  const plan::Layout layout = plan::layout_of(key.collective);
  const std::uint64_t bytes = key.count * size_of(key.type);
  const bool direct = choice.protocol == plan::Protocol::direct;
  const Call call{.collective = key.collective,
                  .type = key.type,
                  .op = common_op,
                  .root = key.root,
                  .count = key.count};
  auto prepared = std::make_unique<Prepared>(Prepared{
      .key = key,
      .call = call,
      .encoded = encode(call),
      .tag = signature(call),
      .bytes = bytes,
      .direct_allowed = direct_is_allowed(context, key, input, same_scale || !reduction.scaled),
      .first_channel = first_channel(choice, plan.slots, bytes, context.shape),
      .input_stride = layout.input_sections ? bytes : 0,
      .output_stride = layout.output_sections ? bytes : 0,
      .title = plan::title(plan),
      .program = engine::CompiledProgram(selection->program, choice.protocol, layout.sectioned),
      .geometry =
          plan::Geometry({.count = key.count,
                          .element_bytes = size_of(key.type),
                          .blocks = layout.sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks),
                          .slot_bytes = direct ? plan::unbounded_slot : choice.slot_bytes,
                          .channels = static_cast<std::uint64_t>(choice.channels)}),
      .combiner = engine::Combiner(reduction, context.ranks)});
  log::info(log::Subsystem::tuning, "{}: {}, {} channels, chunks of {} bytes: {}", describe(call),
            prepared->title, choice.channels, choice.slot_bytes, choice.reason);
  return prepared;
}

}  // namespace gyre::core

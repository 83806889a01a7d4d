// SPDX-License-Identifier: Apache-2.0
// The choice for all collectives but AllReduce.
#include <optional>

#include "collectives/catalog.h"
#include "collectives/chooser.h"
#include "collectives/chooser_sizes.h"
#include "collectives/geometry.h"
#include "collectives/layout.h"
#include "collectives/ranking.h"

namespace gyre::plan {

namespace {

struct Pick {
  Algorithm algorithm;
  std::string_view reason;
};

Pick pick_for_root(Collective collective, const ChoiceInput& input) {
  if (collective == Collective::gather || collective == Collective::scatter) {
    return {Algorithm::one_shot, "the root moves as many bytes in any algorithm"};
  }
  const bool small = input.bytes <= choice_limits.rooted_small_bytes;
  if (input.ranks == 2 || (small && input.ranks <= choice_limits.flat_ranks)) {
    return {Algorithm::one_shot, "few ranks: the root serves all"};
  }
  if (small) return {Algorithm::binomial, "short messages among many ranks: a tree"};
  if (collective == Collective::broadcast) {
    return {Algorithm::chain, "long messages: every rank sends each byte once"};
  }
  if (input.ranks > choice_limits.most_sources) {
    return {Algorithm::tree, "long messages among very many ranks"};
  }
  return {Algorithm::two_shot, "long messages: the reduction is shared out"};
}

Pick pick(Collective collective, const ChoiceInput& input) {
  if (has_root(collective)) return pick_for_root(collective, input);
  if (collective == Collective::reduce_scatter && input.ranks > choice_limits.most_sources) {
    return {Algorithm::pat, "very many ranks"};
  }
  if (collective == Collective::all_to_all || input.ranks <= choice_limits.two_shot_ranks ||
      input.bytes <= choice_limits.rooted_small_bytes) {
    return {Algorithm::one_shot, "one exchange among all"};
  }
  return {Algorithm::ring, "many ranks: a ring has one peer each way"};
}

// Whether the order in which the algorithm combines will do.
bool order_will_do(Collective collective, Algorithm algorithm, const ChoiceInput& input) {
  return !(input.keeps_order || input.reproducible) || in_canonical_order(collective, algorithm);
}

Result<Pick> pick_or_obey(Collective collective, const ChoiceInput& input) {
  // What is forced is forced on the collectives that have it.
  const bool too_many =
      reduces(collective) && input.ranks > choice_limits.most_sources &&
      (input.algorithm == Algorithm::one_shot || input.algorithm == Algorithm::two_shot);
  if (input.algorithm && !too_many && exists(collective, *input.algorithm, Protocol::staged)) {
    if (order_will_do(collective, *input.algorithm, input)) {
      return Pick{*input.algorithm, "the algorithm is forced"};
    }
    if (input.reproducible) return refuse_order(collective, *input.algorithm);
  }
  const Pick picked = pick(collective, input);
  if (input.protocol == Protocol::flag_in_line &&
      exists(collective, Algorithm::one_shot, Protocol::flag_in_line)) {
    return Pick{Algorithm::one_shot, "the protocol is forced"};
  }
  if (order_will_do(collective, picked.algorithm, input)) return picked;
  return Pick{Algorithm::one_shot, "contributions combine in the order of ranks"};
}

Protocol protocol_for(Collective collective, Algorithm algorithm, const ChoiceInput& input) {
  const bool wanted = input.protocol ? *input.protocol == Protocol::flag_in_line
                                     : input.bytes <= choice_limits.inline_bytes;
  return wanted && exists(collective, algorithm, Protocol::flag_in_line) ? Protocol::flag_in_line
                                                                         : Protocol::staged;
}

// In mapped memory, where there is a form for it that is safe and not forced away.
std::optional<Choice> choose_direct(Collective collective, const ChoiceInput& input) {
  if (!input.direct_possible || input.ranks == 1 || input.ranks > choice_limits.most_sources) {
    return std::nullopt;
  }
  if (input.protocol && *input.protocol != Protocol::direct) return std::nullopt;
  for (const Algorithm algorithm : all_algorithms) {
    const bool forced_away = input.algorithm && *input.algorithm != algorithm &&
                             exists(collective, *input.algorithm, Protocol::staged);
    if (forced_away || !exists(collective, algorithm, Protocol::direct)) continue;
    if (!order_will_do(collective, algorithm, input)) continue;
    const Recipe recipe{collective, algorithm, Protocol::direct, input.ranks, 0};
    if (input.in_place && !describe(recipe).in_place_safe) continue;
    return Choice{algorithm, Protocol::direct, 1, unbounded_slot,
                  "all buffers are mapped: nothing is staged"};
  }
  return std::nullopt;
}

// AllReduce, without an algorithm that it does not have.
Result<Choice> choose_for_all_reduce(ChoiceInput input) {
  if (input.algorithm && !exists(Collective::all_reduce, *input.algorithm, Protocol::staged)) {
    input.algorithm.reset();
  }
  return choose_all_reduce(input);
}

}  // namespace

Result<Choice> choose(Collective collective, const ChoiceInput& input) {
  const auto choice = choose_by_rules(collective, input);
  return choice ? Result<Choice>(better_of(*choice, collective, input)) : choice;
}

Result<Choice> choose_by_rules(Collective collective, const ChoiceInput& input) {
  if (collective == Collective::all_reduce) return choose_for_all_reduce(input);
  if (const auto direct = choose_direct(collective, input)) return *direct;
  const Result<Pick> picked = pick_or_obey(collective, input);
  if (!picked) return Unexpected(picked.error());
  Choice choice{picked->algorithm, protocol_for(collective, picked->algorithm, input), 1, 0,
                picked->reason};
  size_slots(describe(recipe_of(collective, choice, input)), is_short(input), input, choice);
  return choice;
}

}  // namespace gyre::plan

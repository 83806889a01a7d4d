// SPDX-License-Identifier: Apache-2.0
#include "collectives/chooser.h"

#include <fmt/format.h>

#include "collectives/all_reduce.h"
#include "collectives/catalog.h"
#include "collectives/chooser_sizes.h"
#include "collectives/geometry.h"
#include "collectives/layout.h"

namespace gyre::plan {

namespace {

struct Pair {
  Algorithm algorithm;
  Protocol protocol;
  std::string_view reason;
};

bool is_small(const ChoiceInput& input) {
  return input.bytes <= choice_limits.inline_bytes;
}

bool exchanges_inputs(const ChoiceInput& input) {
  if (input.ranks == 2) return input.bytes <= choice_limits.pair_exchange_bytes;
  return input.bytes <=
         choice_limits.exchange_sent_bytes / static_cast<std::uint64_t>(input.ranks - 1);
}

bool few_for_two_shot(const ChoiceInput& input) {
  return input.ranks <= choice_limits.two_shot_ranks ||
         (input.ranks <= choice_limits.two_shot_most_ranks &&
          input.bytes <= choice_limits.two_shot_bytes);
}

// Whether the order in which the algorithm combines will do.
bool order_will_do(Algorithm algorithm, const ChoiceInput& input) {
  return (!input.keeps_order || keeps_order(algorithm)) &&
         (!input.reproducible || in_canonical_order(Collective::all_reduce, algorithm));
}

// What is best, nothing being forced.
Pair best(const ChoiceInput& input) {
  if (is_small(input)) {
    return {Algorithm::one_shot, Protocol::flag_in_line, "small: one exchange, flags in line"};
  }
  if (input.direct_possible && direct_pays(Collective::all_reduce, input.ranks, input.bytes)) {
    return {Algorithm::two_shot, Protocol::direct, "all buffers are mapped: nothing is staged"};
  }
  if (exchanges_inputs(input)) {
    return {Algorithm::one_shot, Protocol::staged, "still small: whole inputs are exchanged"};
  }
  if (few_for_two_shot(input)) {
    return {Algorithm::two_shot, Protocol::staged, "few ranks: two exchanges beat a ring"};
  }
  if (!order_will_do(Algorithm::ring, input)) {
    return {Algorithm::two_shot, Protocol::staged, "a ring does not keep the order of ranks"};
  }
  return {Algorithm::ring, Protocol::staged, "many ranks: a ring has one peer each way"};
}

// The best algorithm for a protocol that is forced.
Algorithm algorithm_for(Protocol protocol, const ChoiceInput& input) {
  if (protocol == Protocol::flag_in_line) return Algorithm::one_shot;
  if (protocol == Protocol::direct) return Algorithm::two_shot;
  if (is_small(input) || exchanges_inputs(input)) return Algorithm::one_shot;
  const bool two_shot = few_for_two_shot(input) || !order_will_do(Algorithm::ring, input);
  return two_shot ? Algorithm::two_shot : Algorithm::ring;
}

// The best protocol for an algorithm that is forced.
Protocol protocol_for(Algorithm algorithm, const ChoiceInput& input) {
  if (is_small(input) && algorithm == Algorithm::one_shot) return Protocol::flag_in_line;
  const bool direct = input.direct_possible && supports(algorithm, Protocol::direct) &&
                      !(algorithm == Algorithm::one_shot && input.in_place);
  return direct ? Protocol::direct : Protocol::staged;
}

Pair chosen(const ChoiceInput& input) {
  if (input.algorithm && input.protocol) {
    return {*input.algorithm, *input.protocol, "algorithm and protocol are forced"};
  }
  if (input.algorithm) {
    return {*input.algorithm, protocol_for(*input.algorithm, input), "the algorithm is forced"};
  }
  if (input.protocol) {
    return {algorithm_for(*input.protocol, input), *input.protocol, "the protocol is forced"};
  }
  return best(input);
}

Status check_possible(const Pair& pair, const ChoiceInput& input) {
  const auto impossible = [&](std::string_view why) {
    return fail(Code::invalid_usage,
                fmt::format("GYRE_ALGO and GYRE_PROTO ask for {}/{}, which cannot run here: {}",
                            name_of(pair.algorithm), name_of(pair.protocol), why));
  };
  if (!supports(pair.algorithm, pair.protocol)) {
    return impossible("this algorithm has no form for this protocol. Leave one of the two unset.");
  }
  if (pair.protocol != Protocol::direct) return {};
  if (!input.direct_possible) {
    return impossible(
        "direct access needs input and output on every rank to be memory from gyreMemAlloc, or "
        "registered as shareable, on one host. Use such buffers, or leave GYRE_PROTO unset.");
  }
  if (input.in_place &&
      !describe_all_reduce(pair.algorithm, pair.protocol, input.ranks).in_place_safe) {
    return impossible(
        "peers would read an input that its owner overwrites. Use twoshot, or another buffer for "
        "the output.");
  }
  return {};
}

}  // namespace

bool direct_pays(Collective collective, int ranks, std::uint64_t bytes) {
  // With a root, all ranks must meet in order to find out.
  if (has_root(collective)) return bytes > choice_limits.rooted_small_bytes;
  return bytes > (ranks == 2 ? choice_limits.inline_bytes : choice_limits.direct_bytes);
}

Unexpected refuse_order(Collective collective, Algorithm algorithm) {
  std::string admitted;
  for (const Algorithm other : all_algorithms) {
    if (exists(collective, other, Protocol::staged) && in_canonical_order(collective, other)) {
      admitted += fmt::format("{}{}", admitted.empty() ? "" : ", ", name_of(other));
    }
  }
  return fail(Code::invalid_usage,
              fmt::format("GYRE_ALGO asks for {}, which GYRE_REPRODUCIBLE=1 does not admit for {}: "
                          "it does not combine the contributions in the order of ranks. Admitted: "
                          "{}. Leave one of the two unset.",
                          name_of(algorithm), name_of(collective), admitted));
}

Recipe recipe_of(Collective collective, const Choice& choice, const ChoiceInput& input) {
  return {.collective = collective,
          .algorithm = choice.algorithm,
          .protocol = choice.protocol,
          .ranks = input.ranks,
          .root = has_root(collective) ? 0 : -1,
          .hierarchy = input.hierarchy};
}

Result<Choice> choose_all_reduce(const ChoiceInput& input) {
  if (input.ranks == 1) {
    return Choice{Algorithm::one_shot, Protocol::direct, 1, unbounded_slot, "one rank: a copy"};
  }
  const Pair pair = chosen(input);
  if (!order_will_do(pair.algorithm, input)) {
    if (input.reproducible) return refuse_order(Collective::all_reduce, pair.algorithm);
    ChoiceInput in_order = input;
    in_order.algorithm = Algorithm::two_shot;
    return choose_all_reduce(in_order);
  }
  GYRE_TRY(check_possible(pair, input));
  Choice choice{pair.algorithm, pair.protocol, 1, unbounded_slot, pair.reason};
  // Of one exchange the whole input is a message: one channel with small slots, at every size.
  size_slots(describe(recipe_of(Collective::all_reduce, choice, input)),
             choice.algorithm == Algorithm::one_shot, input, choice);
  return choice;
}

}  // namespace gyre::plan

// SPDX-License-Identifier: Apache-2.0
#include "collectives/ranking.h"

#include <algorithm>

#include "collectives/catalog.h"
#include "collectives/layout.h"

namespace gyre::plan {

namespace {

constexpr int most_ranks = 32;
// The rules are measured on whole calls, the model is four numbers: it must be sure.
constexpr double clearly = 1.25;

bool may_run(Collective collective, Algorithm algorithm, const ChoiceInput& input) {
  if (!exists(collective, algorithm, Protocol::staged)) return false;
  // On one host this is two_shot with nothing around it.
  if (algorithm == Algorithm::hierarchical) return false;
  return !(input.keeps_order || input.reproducible) || in_canonical_order(collective, algorithm);
}

double predict_choice(Collective collective, const Choice& choice, const ChoiceInput& input) {
  return predict(figures_of(recipe_of(collective, choice, input)), *input.costs,
                 {.bytes = input.bytes,
                  .slot_bytes = choice.slot_bytes,
                  .ranks = input.ranks,
                  .local_cpus = input.local_cpus});
}

}  // namespace

std::vector<Candidate> rank_candidates(Collective collective, const ChoiceInput& input) {
  std::vector<Candidate> candidates;
  if (!input.costs || input.ranks <= 2 || input.ranks > most_ranks) return candidates;
  for (const Algorithm algorithm : all_algorithms) {
    if (!may_run(collective, algorithm, input)) continue;
    ChoiceInput forced = input;
    forced.algorithm = algorithm;
    forced.protocol = Protocol::staged;
    const auto choice = choose_by_rules(collective, forced);
    if (!choice || choice->algorithm != algorithm) continue;
    candidates.push_back({*choice, predict_choice(collective, *choice, input)});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  return candidates;
}

Choice better_of(const Choice& chosen, Collective collective, const ChoiceInput& input) {
  const bool forced =
      input.algorithm || input.protocol || input.chunk_bytes > 0 || input.channels > 0;
  if (forced || chosen.protocol != Protocol::staged) return chosen;
  const std::vector<Candidate> candidates = rank_candidates(collective, input);
  const auto same = std::find_if(
      candidates.begin(), candidates.end(),
      [&](const Candidate& candidate) { return candidate.choice.algorithm == chosen.algorithm; });
  if (same == candidates.end() || candidates.front().seconds * clearly > same->seconds) {
    return chosen;
  }
  Choice better = candidates.front().choice;
  better.reason = "what was measured here says that it is clearly faster";
  return better;
}

}  // namespace gyre::plan

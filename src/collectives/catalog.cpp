// SPDX-License-Identifier: Apache-2.0
#include "collectives/catalog.h"

#include <algorithm>
#include <array>

#include "collectives/all_reduce.h"
#include "collectives/direct.h"
#include "collectives/hierarchical.h"
#include "collectives/layout.h"
#include "collectives/log_sections.h"
#include "collectives/one_shot.h"
#include "collectives/ring.h"
#include "collectives/trees.h"
#include "collectives/two_shot.h"

namespace gyre::plan {

namespace {

// Builders other than AllReduce's, through slots.
struct Entry {
  Collective collective;
  Algorithm algorithm;
  // Every rank sends each peer one message and takes one: what lines ask for (connection.h).
  bool symmetric;
  // 2 where a rank sends on while it holds the message that it sends on.
  int slots;
  int blocks;  // of collectives without sections; 0: one for each rank
  Program (*build)(int rank, int ranks, int root);
  int (*scratch)(int ranks) = nullptr;  // Plan::scratch_blocks
};

template <Program (*build)(int, int)>
Program without_root(int rank, int ranks, int /*root*/) {
  return build(rank, ranks);
}

constexpr std::array<Entry, 21> entries = {{
    {Collective::all_gather, Algorithm::one_shot, true, 1, 1, without_root<one_shot_all_gather>},
    {Collective::all_gather, Algorithm::ring, false, 2, 1, without_root<ring_all_gather>},
    {Collective::reduce_scatter, Algorithm::one_shot, true, 1, 1,
     without_root<one_shot_reduce_scatter>},
    {Collective::reduce_scatter, Algorithm::ring, false, 2, 1, without_root<ring_reduce_scatter>},
    {Collective::all_to_all, Algorithm::one_shot, true, 1, 1, without_root<one_shot_all_to_all>},
    {Collective::broadcast, Algorithm::one_shot, false, 1, 1, one_shot_broadcast},
    {Collective::broadcast, Algorithm::chain, false, 1, 1, chain_broadcast},
    {Collective::broadcast, Algorithm::binomial, false, 1, 1, binomial_broadcast},
    {Collective::reduce, Algorithm::one_shot, false, 1, 1, one_shot_reduce},
    {Collective::reduce, Algorithm::binomial, false, 1, 1, binomial_reduce},
    {Collective::reduce, Algorithm::two_shot, false, 1, 0, two_shot_reduce},
    {Collective::gather, Algorithm::one_shot, false, 1, 1, one_shot_gather},
    {Collective::scatter, Algorithm::one_shot, false, 1, 1, one_shot_scatter},
    {Collective::broadcast, Algorithm::tree, false, 1, tree_rooted_blocks, tree_broadcast},
    {Collective::reduce, Algorithm::tree, false, 1, tree_rooted_blocks, tree_reduce},
    {Collective::all_gather, Algorithm::doubling, false, 1, 1, without_root<doubling_all_gather>},
    {Collective::all_gather, Algorithm::bruck, false, 1, 1, without_root<bruck_all_gather>},
    {Collective::all_to_all, Algorithm::bruck, false, 1, 1, without_root<bruck_all_to_all>,
     bruck_all_to_all_scratch},
    {Collective::all_to_all, Algorithm::pairwise, false, 1, 1, without_root<pairwise_all_to_all>},
    {Collective::reduce_scatter, Algorithm::pat, false, 1, 1, without_root<pat_reduce_scatter>,
     pat_reduce_scatter_scratch},
    {Collective::all_gather, Algorithm::pat, false, 1, 1, without_root<pat_all_gather>},
}};

// The same in mapped buffers.
struct DirectEntry {
  Collective collective;
  Algorithm algorithm;
  bool in_place_safe;
  Program (*build)(int rank, int ranks, int root);
};

constexpr std::array<DirectEntry, 7> direct_entries = {{
    {Collective::all_gather, Algorithm::one_shot, true, without_root<direct_all_gather>},
    {Collective::reduce_scatter, Algorithm::one_shot, true, without_root<direct_reduce_scatter>},
    {Collective::all_to_all, Algorithm::one_shot, false, without_root<direct_all_to_all>},
    {Collective::broadcast, Algorithm::one_shot, true, direct_broadcast},
    {Collective::reduce, Algorithm::two_shot, true, direct_reduce},
    {Collective::gather, Algorithm::one_shot, true, direct_gather},
    {Collective::scatter, Algorithm::one_shot, true, direct_scatter},
}};

const DirectEntry* find_direct(Collective collective, Algorithm algorithm) {
  const auto* const found =
      std::find_if(direct_entries.begin(), direct_entries.end(), [&](const DirectEntry& entry) {
        return entry.collective == collective && entry.algorithm == algorithm;
      });
  return found != direct_entries.end() ? &*found : nullptr;
}

const Entry* find(Collective collective, Algorithm algorithm) {
  const auto* const found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.collective == collective && entry.algorithm == algorithm;
  });
  return found != entries.end() ? &*found : nullptr;
}

}  // namespace

bool exists(Collective collective, Algorithm algorithm, Protocol protocol) {
  if (collective == Collective::all_reduce) return supports(algorithm, protocol);
  if (algorithm == Algorithm::hierarchical) {
    return protocol == Protocol::staged && has_hierarchical(collective);
  }
  if (protocol == Protocol::direct) return find_direct(collective, algorithm) != nullptr;
  const Entry* const entry = find(collective, algorithm);
  if (entry == nullptr) return false;
  return protocol == Protocol::staged || entry->symmetric;
}

bool in_canonical_order(Collective collective, Algorithm algorithm) {
  if (!reduces(collective)) return true;
  return algorithm == Algorithm::one_shot || algorithm == Algorithm::two_shot;
}

std::vector<Recipe> recipes(Collective collective, int ranks, int root) {
  std::vector<Recipe> all;
  for (const Algorithm algorithm : all_algorithms) {
    for (const Protocol protocol : {Protocol::flag_in_line, Protocol::staged, Protocol::direct}) {
      if (exists(collective, algorithm, protocol)) {
        all.push_back({collective, algorithm, protocol, ranks, has_root(collective) ? root : -1});
      }
    }
  }
  return all;
}

Plan describe(const Recipe& recipe) {
  if (recipe.collective == Collective::all_reduce) {
    return describe_all_reduce(recipe.algorithm, recipe.protocol, recipe.ranks, recipe.hierarchy);
  }
  if (recipe.algorithm == Algorithm::hierarchical) return describe_hierarchical(recipe);
  const Entry& entry = *find(recipe.collective, recipe.algorithm);
  const bool by_rank = layout_of(recipe.collective).sectioned || entry.blocks == 0;
  Plan plan;
  plan.name = name_of(recipe.algorithm);
  plan.collective = recipe.collective;
  plan.protocol = recipe.protocol;
  plan.ranks = recipe.ranks;
  plan.root = recipe.root;
  plan.blocks = by_rank ? recipe.ranks : entry.blocks;
  plan.slots = entry.slots;
  if (recipe.protocol == Protocol::direct) {
    // One rank has no peers whose accesses could meet its own.
    plan.in_place_safe =
        recipe.ranks == 1 || find_direct(recipe.collective, recipe.algorithm)->in_place_safe;
  }
  plan.scratch_blocks = entry.scratch != nullptr ? entry.scratch(recipe.ranks) : 0;
  return plan;
}

Program program_of(const Recipe& recipe, int rank) {
  if (recipe.collective == Collective::all_reduce) {
    return all_reduce_program(recipe.algorithm, recipe.protocol, rank, recipe.ranks,
                              recipe.hierarchy);
  }
  if (recipe.algorithm == Algorithm::hierarchical) return hierarchical_program(recipe, rank);
  if (recipe.protocol == Protocol::direct) {
    return find_direct(recipe.collective, recipe.algorithm)->build(rank, recipe.ranks, recipe.root);
  }
  return find(recipe.collective, recipe.algorithm)->build(rank, recipe.ranks, recipe.root);
}

Plan make_plan(const Recipe& recipe) {
  Plan plan = describe(recipe);
  plan.programs.reserve(static_cast<std::size_t>(recipe.ranks));
  for (int rank = 0; rank < recipe.ranks; ++rank) plan.programs.push_back(program_of(recipe, rank));
  return plan;
}

}  // namespace gyre::plan

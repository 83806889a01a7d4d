// SPDX-License-Identifier: Apache-2.0
// Collectives in buffers that every rank has mapped: nothing is staged. AllReduce's own are with its
// other forms.
#pragma once

#include "collectives/plan.h"

namespace gyre::plan {

// direct_exchange.cpp: every rank fetches what it needs from its peers' inputs.
[[nodiscard]] Program direct_all_gather(int rank, int ranks);
[[nodiscard]] Program direct_reduce_scatter(int rank, int ranks);
[[nodiscard]] Program direct_all_to_all(int rank, int ranks);

// direct_rooted.cpp
[[nodiscard]] Program direct_broadcast(int rank, int ranks, int root);
[[nodiscard]] Program direct_scatter(int rank, int ranks, int root);
[[nodiscard]] Program direct_gather(int rank, int ranks, int root);
[[nodiscard]] Program direct_reduce(int rank, int ranks, int root);

// Whose buffers a direct plan reaches into: those must be mapped.
struct Reach {
  enum class Whose : std::uint8_t { nobody, root, everybody };
  Whose inputs = Whose::nobody;
  Whose outputs = Whose::nobody;
  friend bool operator==(const Reach&, const Reach&) = default;
};
// Of the plans of the catalog.
[[nodiscard]] constexpr Reach reach_of(Collective collective) {
  using enum Reach::Whose;
  switch (collective) {
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return {everybody, nobody};
    case Collective::broadcast:
    case Collective::scatter:
      return {root, nobody};
    case Collective::gather:
      return {nobody, root};
    case Collective::reduce:
      return {everybody, root};
    default:
      return {everybody, everybody};
  }
}
// Of any plan, with the programs of all ranks (direct_reach.cpp).
[[nodiscard]] Reach reach_of(const Plan& plan);

}  // namespace gyre::plan

// SPDX-License-Identifier: Apache-2.0
// The names of algorithms and protocols, as users write and read them (GYRE_ALGO, GYRE_PROTO).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "collectives/plan.h"

namespace gyre::plan {

enum class Algorithm : std::uint8_t { ring, one_shot, two_shot, chain, binomial };
inline constexpr Algorithm all_algorithms[] = {Algorithm::ring, Algorithm::one_shot,
                                               Algorithm::two_shot, Algorithm::chain,
                                               Algorithm::binomial};
inline constexpr Protocol all_protocols[] = {Protocol::flag_in_line, Protocol::staged,
                                             Protocol::direct};
// Those that have plans.
inline constexpr Collective all_collectives[] = {
    Collective::all_reduce, Collective::reduce, Collective::reduce_scatter, Collective::all_gather,
    Collective::broadcast,  Collective::gather, Collective::scatter,        Collective::all_to_all};

[[nodiscard]] std::string_view name_of(Algorithm algorithm);    // "ring", "oneshot", ...
[[nodiscard]] std::string_view name_of(Protocol protocol);      // "inline", "staged", "direct"
[[nodiscard]] std::string_view name_of(Collective collective);  // "AllReduce"

[[nodiscard]] std::optional<Algorithm> parse_algorithm(std::string_view name);
[[nodiscard]] std::optional<Protocol> parse_protocol(std::string_view name);
[[nodiscard]] std::optional<Collective> parse_collective(std::string_view name);

}  // namespace gyre::plan

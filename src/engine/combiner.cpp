// SPDX-License-Identifier: Apache-2.0
#include "engine/combiner.h"

#include <algorithm>
#include <cstring>

namespace gyre::engine {
namespace {

// Small enough to stay in the first-level cache beside the source and the destination.
constexpr std::size_t piece_bytes = 8 * 1024;

bool is_scaled(std::uint64_t contributions, std::size_t source) {
  return (contributions >> source & 1U) != 0;
}

}  // namespace

Combiner::Combiner(const Reduction& reduction, int most_sources)
    : reduction_(reduction),
      element_bytes_(size_of(reduction.type)),
      kernel_(reduce_kernel(reduction.type, reduction.op)),
      scale_(scale_kernel(reduction.type)),
      divide_(divide_kernel(reduction.type)),
      plain_(!reduction.scaled && reduction.divisor == 1 && reduction.user.function == nullptr),
      piece_elements_(piece_bytes / element_bytes_) {
  if (!plain_) {
    const auto pieces = static_cast<std::size_t>(most_sources) + 1;
    scratch_.resize(pieces * piece_bytes);
    piece_sources_.resize(static_cast<std::size_t>(most_sources));
    piece_destinations_.resize(static_cast<std::size_t>(most_sources) + 1);
  }
}

void Combiner::combine_in_pieces(std::span<std::byte* const> destinations,
                                 std::span<const std::byte* const> sources,
                                 std::uint64_t contributions, std::size_t count, StoreHint hint,
                                 bool completes) {
  const std::span<std::byte*> to(piece_destinations_.data(), destinations.size());
  const std::span<const std::byte*> from(piece_sources_.data(), sources.size());
  for (std::size_t done = 0; done < count; done += piece_elements_) {
    const std::size_t offset = done * element_bytes_;
    std::ranges::transform(destinations, to.begin(), [&](std::byte* p) { return p + offset; });
    std::ranges::transform(sources, from.begin(), [&](const std::byte* p) { return p + offset; });
    combine_piece(to, from, contributions, std::min(piece_elements_, count - done), hint,
                  completes);
  }
}

void Combiner::combine_piece(std::span<std::byte* const> destinations,
                             std::span<const std::byte*> sources, std::uint64_t contributions,
                             std::size_t count, StoreHint hint, bool completes) {
  if (reduction_.scaled) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (is_scaled(contributions, i)) {
        std::byte* scaled = scratch_.data() + (i + 1) * piece_bytes;
        scale_(scaled, sources[i], reduction_.scale.data(), count);
        sources[i] = scaled;
      }
    }
  }
  const bool divides = completes && reduction_.divisor != 1;
  const bool calls_user = reduction_.user.function != nullptr && sources.size() > 1;
  if (!divides && !calls_user) {
    kernel_(destinations, sources, count, hint);
    return;
  }
  std::byte* const result = scratch_.data();
  if (calls_user) {
    fold_with_user_function(result, sources, count);
  } else {
    kernel_(std::span<std::byte* const>(&result, 1), sources, count, StoreHint::cached);
  }
  if (divides) {
    divide_(result, reduction_.divisor, count);
  }
  const std::byte* const value = result;
  kernel_(destinations, std::span<const std::byte* const>(&value, 1), count, hint);
}

// The function combines into its second argument, which comes from the higher rank: each source is
// copied there, and the result moves back for the next one.
void Combiner::fold_with_user_function(std::byte* into, std::span<const std::byte* const> sources,
                                       std::size_t count) {
  const std::size_t bytes = count * element_bytes_;
  std::memcpy(into, sources[0], bytes);
  std::byte* const next = scratch_.data() + piece_bytes;
  for (std::size_t i = 1; i < sources.size(); ++i) {
    std::memcpy(next, sources[i], bytes);
    reduction_.user.function(into, next, count, static_cast<gyreDataType_t>(reduction_.type),
                             reduction_.user.context);
    std::memcpy(into, next, bytes);
  }
}

}  // namespace gyre::engine

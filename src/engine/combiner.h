// SPDX-License-Identifier: Apache-2.0
// One reduction of the user, ready to run on blocks: built-in kernels, contributions that are
// scaled first (avg of floats, premulsum), sums that are divided at the end (avg of integers), and
// users' own functions.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "gyre/gyre.h"
#include "memory/kernels.h"

namespace gyre::engine {

// inout[i] = in[i] op inout[i]; `in` comes from lower ranks.
struct UserFunction {
  gyreReduceFunction_t function = nullptr;
  void* context = nullptr;
  bool commutative = true;
};

struct Reduction {
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  bool scaled = false;               // multiply each contribution by `scale` first
  std::array<std::byte, 8> scale{};  // as scale_kernel wants it
  std::size_t divisor = 1;           // divide each complete value by it
  UserFunction user{};               // instead of `op` when its function is set
};

class Combiner {
 public:
  explicit Combiner(const Reduction& reduction, int most_sources);

  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }

  // destinations[*] = sources[0] op sources[1] ...; bit i of `contributions` says that source i is
  // a rank's own input, not a partial result. `completes`: the value is complete.
  void combine(std::span<std::byte* const> destinations, std::span<const std::byte* const> sources,
               std::uint64_t contributions, std::size_t count, StoreHint hint, bool completes) {
    if (plain_) [[likely]] {
      kernel_(destinations, sources, count, hint);
    } else {
      combine_in_pieces(destinations, sources, contributions, count, hint, completes);
    }
  }

  // For the copy of one contribution into a message.
  [[nodiscard]] bool scales() const { return reduction_.scaled; }

 private:
  void combine_in_pieces(std::span<std::byte* const> destinations,
                         std::span<const std::byte* const> sources, std::uint64_t contributions,
                         std::size_t count, StoreHint hint, bool completes);
  void combine_piece(std::span<std::byte* const> destinations, std::span<const std::byte*> sources,
                     std::uint64_t contributions, std::size_t count, StoreHint hint,
                     bool completes);
  void fold_with_user_function(std::byte* into, std::span<const std::byte* const> sources,
                               std::size_t count);

  Reduction reduction_;
  std::size_t element_bytes_;
  ReduceKernel kernel_;
  ScaleKernel scale_;
  DivideKernel divide_;
  bool plain_;
  std::size_t piece_elements_;
  std::vector<std::byte> scratch_;  // a piece for each source and one for the result
  std::vector<const std::byte*> piece_sources_;
  std::vector<std::byte*> piece_destinations_;
};

}  // namespace gyre::engine

// SPDX-License-Identifier: Apache-2.0
// The few float32 loops that the bounds are made of, for the widest vectors of this CPU.
#pragma once

#include <cstddef>

namespace bounds {

// streaming: non-temporal stores, past the caches, fenced before return. Destinations are then
// aligned to 64 bytes.
enum class Store { cached, streaming };

struct Loops {
  const char* name;
  void (*copy)(float* to, const float* from, std::size_t count, Store store);
  // to = a + b
  void (*add)(float* to, const float* a, const float* b, std::size_t count, Store store);
  // first = second = a + b
  void (*add_twice)(float* first, float* second, const float* a, const float* b, std::size_t count,
                    Store store);
  // first = second = a + b, where `store` is about `first` and `second` stays in the cache
  void (*add_and_keep)(float* first, float* second, const float* a, const float* b,
                       std::size_t count, Store store);
  // every to[d] = from[0] + from[1] + ... + from[n - 1]; `destinations` of them
  void (*add_many)(float* const* to, std::size_t destinations, const float* const* from,
                   std::size_t sources, std::size_t count, Store store);
};

[[nodiscard]] const Loops& best_loops();

// One for each instruction set, each in a file of its own with its own compiler flags.
extern const Loops plain_loops;
#if defined(__x86_64__)
extern const Loops avx2_loops;
extern const Loops avx512_loops;
#endif

}  // namespace bounds

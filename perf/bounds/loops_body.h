// SPDX-License-Identifier: Apache-2.0
// Bodies of the loops, compiled once for each instruction set. Only plain pointers and vector
// types in here: an inline function of the standard library, compiled for AVX-512, could be the
// copy that the linker keeps for everybody.
#pragma once

#include <cstddef>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "perf/bounds/loops.h"

namespace bounds {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif

using Vector = float __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
constexpr std::size_t lanes = vector_bytes / sizeof(float);

Vector load(const float* from) {
  return *reinterpret_cast<const Vector*>(from);
}

template <Store store>
void put(float* to, Vector value) {
  if constexpr (store == Store::streaming) {
#if defined(__AVX512F__)
    _mm512_stream_ps(to, value);
    return;
#elif defined(__AVX__)
    _mm256_stream_ps(to, value);
    return;
#elif defined(__SSE2__)
    _mm_stream_ps(to, value);
    return;
#endif
  }
  *reinterpret_cast<Vector*>(to) = value;
}

// Non-temporal stores are not ordered with the flag that announces them.
template <Store store>
void fence() {
#if defined(__SSE2__)
  if constexpr (store == Store::streaming) _mm_sfence();
#endif
}

// Runs `step` on whole vectors, several at a time so that many loads are under way.
template <Store store, class Step, class Tail>
void sweep(std::size_t count, Step step, Tail tail) {
  constexpr std::size_t unroll = 4;
  std::size_t i = 0;
  for (; i + unroll * lanes <= count; i += unroll * lanes) {
    for (std::size_t u = 0; u < unroll; ++u) step(i + u * lanes);
  }
  for (; i + lanes <= count; i += lanes) step(i);
  for (; i < count; ++i) tail(i);
  fence<store>();
}

template <Store store>
void copy_loop(float* to, const float* from, std::size_t count) {
  sweep<store>(
      count, [=](std::size_t i) { put<store>(to + i, load(from + i)); },
      [=](std::size_t i) { to[i] = from[i]; });
}

template <Store store>
void add_loop(float* to, const float* a, const float* b, std::size_t count) {
  sweep<store>(
      count, [=](std::size_t i) { put<store>(to + i, load(a + i) + load(b + i)); },
      [=](std::size_t i) { to[i] = a[i] + b[i]; });
}

template <Store store, Store second_store>
void add_twice_loop(float* first, float* second, const float* a, const float* b,
                    std::size_t count) {
  sweep<store>(
      count,
      [=](std::size_t i) {
        const Vector sum = load(a + i) + load(b + i);
        put<store>(first + i, sum);
        put<second_store>(second + i, sum);
      },
      [=](std::size_t i) { first[i] = second[i] = a[i] + b[i]; });
}

template <Store store>
void add_many_loop(float* const* to, std::size_t destinations, const float* const* from,
                   std::size_t sources, std::size_t count) {
  sweep<store>(
      count,
      [=](std::size_t i) {
        Vector sum = load(from[0] + i);
        for (std::size_t s = 1; s < sources; ++s) sum += load(from[s] + i);
        for (std::size_t d = 0; d < destinations; ++d) put<store>(to[d] + i, sum);
      },
      [=](std::size_t i) {
        float sum = from[0][i];
        for (std::size_t s = 1; s < sources; ++s) sum += from[s][i];
        for (std::size_t d = 0; d < destinations; ++d) to[d][i] = sum;
      });
}

void copy(float* to, const float* from, std::size_t count, Store store) {
  store == Store::cached ? copy_loop<Store::cached>(to, from, count)
                         : copy_loop<Store::streaming>(to, from, count);
}

void add(float* to, const float* a, const float* b, std::size_t count, Store store) {
  store == Store::cached ? add_loop<Store::cached>(to, a, b, count)
                         : add_loop<Store::streaming>(to, a, b, count);
}

void add_twice(float* first, float* second, const float* a, const float* b, std::size_t count,
               Store store) {
  constexpr Store cached = Store::cached;
  constexpr Store streaming = Store::streaming;
  store == cached ? add_twice_loop<cached, cached>(first, second, a, b, count)
                  : add_twice_loop<streaming, streaming>(first, second, a, b, count);
}

void add_and_keep(float* first, float* second, const float* a, const float* b, std::size_t count,
                  Store store) {
  constexpr Store cached = Store::cached;
  store == cached ? add_twice_loop<cached, cached>(first, second, a, b, count)
                  : add_twice_loop<Store::streaming, cached>(first, second, a, b, count);
}

void add_many(float* const* to, std::size_t destinations, const float* const* from,
              std::size_t sources, std::size_t count, Store store) {
  store == Store::cached ? add_many_loop<Store::cached>(to, destinations, from, sources, count)
                         : add_many_loop<Store::streaming>(to, destinations, from, sources, count);
}

}  // namespace
}  // namespace bounds

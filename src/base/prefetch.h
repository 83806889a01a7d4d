// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gyre {

// Asks for the cache line of `address` as its only owner, so that a store that comes soon need not
// wait for the other cores' copies to go. A hint: it changes nothing and never fails.
inline void prefetch_to_write(void* address) {
#if defined(__x86_64__)
  // GCC makes a prefetch to read of its built-in unless told that the processor has prefetchw; all
  // of x86-64 has it, or takes it for no operation.
  asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(address)));
#else
  __builtin_prefetch(address, 1, 3);
#endif
}

}  // namespace gyre

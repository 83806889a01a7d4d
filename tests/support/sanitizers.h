// SPDX-License-Identifier: Apache-2.0
// How much of a test to run: a sanitizer costs 3 to 15 times the time, and looks at the code, which
// a tenth of the repetitions walks through just as well.
#pragma once

namespace gyre::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif
#else
inline constexpr bool address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
#else
inline constexpr bool thread_sanitizer = false;
#endif

inline constexpr bool under_sanitizer = address_sanitizer || thread_sanitizer;

// `full` repetitions, or fewer under a sanitizer.
[[nodiscard]] constexpr int repetitions(int full, int under_a_sanitizer) {
  return under_sanitizer ? under_a_sanitizer : full;
}

}  // namespace gyre::test

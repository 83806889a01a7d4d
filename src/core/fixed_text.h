// SPDX-License-Identifier: Apache-2.0
// Texts in the public structures: arrays of char, ended by a zero.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

namespace gyre::core {

// As much as fits, zeros behind it.
template <std::size_t size>
void copy_text(char (&to)[size], std::string_view from) {
  const std::size_t length = std::min(from.size(), size - 1);
  std::memcpy(to, from.data(), length);
  std::memset(to + length, 0, size - length);
}

template <std::size_t size>
[[nodiscard]] std::string_view text_in(const char (&from)[size]) {
  return {from, ::strnlen(from, size)};
}

}  // namespace gyre::core

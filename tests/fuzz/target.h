// SPDX-License-Identifier: Apache-2.0
// What a fuzz target is: a parser of foreign bytes. One *_target.cpp each.
#pragma once

#include <vector>

#include "net/bytes.h"

namespace gyre::fuzz {

// Feeds the parser; aborts when it breaks a promise (beyond what sanitizers see).
void consume(net::ByteView bytes);
// Well-formed inputs, to start from.
std::vector<net::Bytes> seeds();

inline void require(bool held) {
  if (!held) {
    __builtin_trap();
  }
}
inline std::string_view text_of(net::ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline net::Bytes bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

}  // namespace gyre::fuzz

// SPDX-License-Identifier: Apache-2.0
// Small help for messages that quote other messages.
#pragma once

#include <string>

namespace gyre::net {

// With a full stop unless it ends in some stop already; so that another sentence may follow.
[[nodiscard]] inline std::string as_sentence(std::string text) {
  if (!text.empty() && text.back() != '.' && text.back() != '?' && text.back() != '!') {
    text += '.';
  }
  return text;
}

}  // namespace gyre::net

// SPDX-License-Identifier: Apache-2.0
// How a benchmark gives up: thrown anywhere, printed once by main.
#pragma once

#include <stdexcept>

namespace perf {

// The text is a sentence for the user: what happened and what to do.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace perf

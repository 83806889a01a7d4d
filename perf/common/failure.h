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

// The library under test lacks the call, on every rank alike: nothing is broken, and the ranks end
// together.
class NotSupported : public Failure {
 public:
  using Failure::Failure;
};

// What the program then returns, so that whoever runs it can tell: automake's "skipped".
inline constexpr int exit_not_supported = 77;

}  // namespace perf

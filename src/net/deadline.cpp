// SPDX-License-Identifier: Apache-2.0
#include "net/deadline.h"

#include <algorithm>
#include <limits>

namespace gyre::net {

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  // A far deadline is waited for in pieces of at most an hour: no overflow, no visible cost.
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3600 * 1000));
}

}  // namespace gyre::net

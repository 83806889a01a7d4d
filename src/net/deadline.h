// SPDX-License-Identifier: Apache-2.0
// Points in time after which a wait gives up. Always the monotonic clock: a job must not time out
// because somebody set the date.
#pragma once

#include <chrono>

namespace gyre::net {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

[[nodiscard]] inline Deadline after(Clock::duration duration) {
  return Clock::now() + duration;
}

// Whole milliseconds until `deadline`, rounded up so that a wait never ends early, as poll and
// epoll_wait take it; 0 when it has passed.
[[nodiscard]] int milliseconds_until(Deadline deadline);

}  // namespace gyre::net

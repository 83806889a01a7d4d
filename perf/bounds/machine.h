// SPDX-License-Identifier: Apache-2.0
// What this machine does underneath: core-to-core latency and copy rates.
#pragma once

#include <cstddef>
#include <vector>

namespace bounds {

// One way, microseconds, between the first two allowed CPUs.
[[nodiscard]] double measure_ping_pong();

struct CopyRate {
  std::size_t bytes = 0;
  double cached = 0;  // GB/s of result, 1 GB = 1e9 bytes
  double streaming = 0;
  double memcpy = 0;  // the C library's
};
[[nodiscard]] std::vector<CopyRate> measure_copy_rates(std::size_t max_bytes);

}  // namespace bounds

// SPDX-License-Identifier: Apache-2.0
// The few calls of a PMIx client that Gyre needs, behind a class: the real one loads libpmix.so.2
// at run time, tests hand in a double.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace gyre::drivers {

struct PmixProcess {
  std::string job;  // namespace
  int rank = 0;
  int size = 1;
  int local_rank = -1;  // on this host; -1: the server does not say
  int local_size = -1;  // likewise
};

class PmixClient {
 public:
  virtual ~PmixClient() = default;  // PMIx_Finalize
  [[nodiscard]] virtual const PmixProcess& process() const = 0;
  // Publishes key = value for all processes of the job; visible to them after fence().
  virtual Status put(const std::string& key, std::span<const std::byte> value) = 0;
  // Collective over the job; collects what was put.
  virtual Status fence(std::chrono::milliseconds timeout) = 0;
  // What `rank` had put before the newest fence.
  virtual Result<std::vector<std::byte>> get(int rank, const std::string& key) = 0;
};

// Loads libpmix and connects to the server that launched this process. The library stays loaded:
// it has threads of its own. not_supported when it is not installed.
Result<std::unique_ptr<PmixClient>> open_pmix();

}  // namespace gyre::drivers

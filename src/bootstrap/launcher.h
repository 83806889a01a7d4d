// SPDX-License-Identifier: Apache-2.0
// How was this process started, and what does that say about rank, size and where to meet? Asked
// in this order: GYRE_COMM_ID, PMIx (mpirun, srun, prun), PMI-1 (Hydra), torchrun; else alone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/settings.h"
#include "base/status.h"
#include "bootstrap/root.h"
#include "bootstrap/unique_id.h"
#include "drivers/pmix/pmix_client.h"
#include "net/deadline.h"
#include "net/event_loop.h"

namespace gyre::bootstrap {

// The process environment as a value, so that tests can make one up.
class Environment {
 public:
  Environment() = default;
  explicit Environment(std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {}
  // From NAME=VALUE strings, as `environ`.
  static Environment from(const char* const* environment);
  [[nodiscard]] std::optional<std::string> get(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const { return variables_.contains(name); }

 private:
  std::map<std::string, std::string> variables_;
};

struct Launch {
  int rank = 0;
  int size = 1;
  int local_rank = -1;  // -1: the launcher did not say
  UniqueId id;
  std::string how;             // "PMIx", "torchrun" ...: for INFO and for error texts
  std::unique_ptr<Root> root;  // on the rank that serves the id; keep it until all have joined
};

class Pmi1;

// The process's connection to its launcher. Keep one for the life of the process and hand it to
// each find_launch: launchers take its end for the end of the process.
struct LauncherSession {
  LauncherSession();
  ~LauncherSession();
  LauncherSession(const LauncherSession&) = delete;
  LauncherSession& operator=(const LauncherSession&) = delete;
  std::unique_ptr<drivers::PmixClient> pmix;
  std::unique_ptr<Pmi1> pmi;
};

struct LaunchRequest {
  const Settings& settings;
  const Environment& environment;
  net::EventLoop& loop;
  net::Deadline deadline;
  std::uint32_t library_version = 0;
  // How many communicators this process has made from its environment before: each needs a meeting
  // place of its own. All ranks count alike because init is collective.
  int instance = 0;
  LauncherSession* session = nullptr;  // null: opened for this call only
  // Opens libpmix; a test hands in a double.
  std::function<Result<std::unique_ptr<drivers::PmixClient>>()> open_pmix = drivers::open_pmix;
};

// Collective over the ranks of the launcher. Blocking; not on the loop thread.
Result<Launch> find_launch(const LaunchRequest& request);

}  // namespace gyre::bootstrap

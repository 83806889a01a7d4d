// SPDX-License-Identifier: Apache-2.0
// Every GYRE_* variable, declared once (name, type, default, range, one line) in settings.cpp.
// docs/settings.md is generated from the same table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gyre {

// Where a value came from; a later one overrides an earlier one.
enum class Origin : std::uint8_t { preset, system_file, user_file, environment };

[[nodiscard]] std::string_view name_of(Origin origin);  // "default", "environment"

// The effective values. Plain data: read once per process, then handed down; nothing else in Gyre
// calls getenv. Fields are in the order of the table in settings.cpp.
struct Settings {
  std::string debug = "WARN";        // GYRE_DEBUG: WARN VERSION INFO TRACE
  std::string debug_subsys = "ALL";  // GYRE_DEBUG_SUBSYS: comma list, ^ excludes
  std::string debug_file;            // GYRE_DEBUG_FILE: %h host, %p pid; empty: stderr
  std::string comm_id;               // GYRE_COMM_ID: unique id in hex, from a launcher
  std::string job_secret;            // GYRE_JOB_SECRET: 64 hex digits, for torchrun over many hosts
  std::string socket_ifname;         // GYRE_SOCKET_IFNAME: list, ^ excludes, = exact
  std::string socket_family;         // GYRE_SOCKET_FAMILY: "", AF_INET, AF_INET6
  std::string port_range;            // GYRE_PORT_RANGE: "first-last"; empty: any
  std::string host_id;               // GYRE_HOST_ID: overrides which ranks share memory
  std::int64_t init_timeout_s = 120;  // GYRE_INIT_TIMEOUT
  std::int64_t timeout_s = 1800;      // GYRE_TIMEOUT; 0: for ever
  std::string algorithm;              // GYRE_ALGO: "", "ring", "oneshot", ...
  std::string protocol;               // GYRE_PROTO: "", "inline", "staged", "direct"
  std::int64_t chunk_bytes = 0;       // GYRE_CHUNK: 0: chosen
  std::int64_t channels = 0;          // GYRE_CHANNELS: 0: chosen
  std::int64_t slots = 0;             // GYRE_SLOTS: slots per channel and peer; 0: chosen
  std::string cost_file;              // GYRE_COST_FILE
  std::string plan_file;              // GYRE_PLAN_FILE: paths, separated by colons
  std::int64_t reproducible = 0;      // GYRE_REPRODUCIBLE: 1: reductions in the order of ranks
  std::int64_t spin_us = -1;          // GYRE_SPIN_US: -1: chosen by allowed CPUs and local ranks
  std::int64_t yield_us = -1;         // GYRE_YIELD_US: likewise, before sleeping
  std::string simd;                   // GYRE_SIMD: "", or "scalar" to force the scalar kernels

  std::vector<Origin> origins;  // of each variable, in table order; empty: all preset
};

struct SettingReport {
  std::string name, value, preset, range, description;
  Origin origin = Origin::preset;
};

// Reads /etc/gyre.conf, ~/.gyre.conf (or GYRE_CONF_FILE) and `environment` (NAME=VALUE, as
// environ). An unparsable value is an error that names variable, value, range; an unknown GYRE_
// name a warning in *warnings with the nearest known name.
// An empty value means the default, so that the environment can undo what a file set.
[[nodiscard]] Result<Settings> read_settings(const char* const* environment,
                                             std::vector<std::string>* warnings);
// As above, with another path in place of /etc/gyre.conf.
[[nodiscard]] Result<Settings> read_settings(const char* const* environment,
                                             const std::string& system_file,
                                             std::vector<std::string>* warnings);

// One row a variable, in table order, for GYRE_DEBUG=INFO and for the generated document. Secrets
// are shown as "(set)".
[[nodiscard]] std::vector<SettingReport> report_settings(const Settings& settings);

}  // namespace gyre

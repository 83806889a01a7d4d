// SPDX-License-Identifier: Apache-2.0
// Lines in the form that people grep:  host:pid:tid GYRE WARN [INIT] text
// Levels and subsystems come from GYRE_DEBUG and GYRE_DEBUG_SUBSYS, the file from GYRE_DEBUG_FILE.
// Never call it on a hot path.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "base/status.h"

namespace gyre {
struct Settings;
}

namespace gyre::log {

// error and warn are always printed; version at GYRE_DEBUG=VERSION; info and trace by level.
enum class Level : std::uint8_t { error, warn, version, info, trace };

enum class Subsystem : std::uint8_t {
  init,
  bootstrap,
  net,
  shm,
  coll,
  plan,
  tuning,
  env,
  alloc,
  reg,
  topo,
};

// As GYRE_DEBUG_SUBSYS spells them, in the order of Subsystem.
inline constexpr std::array<std::string_view, 11> subsystem_names = {
    "INIT", "BOOTSTRAP", "NET", "SHM", "COLL", "PLAN", "TUNING", "ENV", "ALLOC", "REG", "TOPO"};

// Applies GYRE_DEBUG, GYRE_DEBUG_SUBSYS and GYRE_DEBUG_FILE. Until the first call errors and
// warnings go to stderr. An unusable debug file is the only failure; the former destination then
// stays.
[[nodiscard]] Status configure(const Settings& settings);

// One INFO [ENV] line a variable: effective value, origin, default.
void report(const Settings& settings);

[[nodiscard]] bool enabled(Level level, Subsystem subsystem);
void write(Level level, Subsystem subsystem, std::string_view text);

template <typename... Args>
void error(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  write(Level::error, subsystem, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warn(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warn, subsystem, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void version(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::version, subsystem)) {
    write(Level::version, subsystem, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void info(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::info, subsystem)) {
    write(Level::info, subsystem, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void trace(Subsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::trace, subsystem)) {
    write(Level::trace, subsystem, fmt::format(format, std::forward<Args>(args)...));
  }
}

}  // namespace gyre::log

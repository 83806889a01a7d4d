// SPDX-License-Identifier: Apache-2.0
// Lines in the form that people grep:  host:pid:tid GYRE WARN [INIT] text
// Levels and subsystems come from GYRE_DEBUG and GYRE_DEBUG_SUBSYS, the file from GYRE_DEBUG_FILE.
// Never call it on a hot path.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/core.h>

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

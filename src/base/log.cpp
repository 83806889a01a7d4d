// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/settings.h"
#include "base/unique_fd.h"

namespace gyre::log {
namespace {

using SubsystemMask = std::uint32_t;
constexpr SubsystemMask all_subsystems = (SubsystemMask{1} << subsystem_names.size()) - 1;

constexpr std::string_view name_of(Level level) {
  constexpr std::array<std::string_view, 5> names = {"ERROR", "WARN", "VERSION", "INFO", "TRACE"};
  return names.at(static_cast<std::size_t>(level));
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) {
    return "localhost";
  }
  return name.data();
}

Level level_of(std::string_view text) {
  for (const Level level : {Level::version, Level::info, Level::trace}) {
    if (name_of(level) == text) {
      return level;
    }
  }
  return Level::warn;
}

SubsystemMask mask_of(std::string_view name) {
  const auto* const found = std::find(subsystem_names.begin(), subsystem_names.end(), name);
  if (found == subsystem_names.end()) {
    return all_subsystems;  // ALL: the settings registry lets nothing else through
  }
  return SubsystemMask{1} << (found - subsystem_names.begin());
}

// "NET,SHM": those; "^NET,SHM": all but those; "ALL,^NET": item by item.
SubsystemMask parse_subsystems(std::string_view text) {
  const bool inverted = text.starts_with('^');
  SubsystemMask included = inverted ? all_subsystems : 0;
  for (const std::string_view item : split(text, ',')) {
    const bool marked = item.starts_with('^');
    const SubsystemMask mask = mask_of(item.substr(marked ? 1 : 0));
    included = inverted || marked ? included & ~mask : included | mask;
  }
  return included;
}

std::string expand_path(std::string_view pattern) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view token = pattern.substr(i, 2);
    if (token == "%h") {
      path += host_name();
    } else if (token == "%p") {
      path += fmt::to_string(::getpid());
    } else {
      path += pattern[i];
      continue;
    }
    ++i;  // past the letter
  }
  return path;
}

// Every line of the text gets the whole prefix, and control characters are replaced: parts of a
// text may come from another rank, and must not be able to forge a line or to drive a terminal.
std::string compose(Level level, Subsystem subsystem, std::string_view text) {
  const std::string prefix =
      fmt::format("{}:{}:{} GYRE {} [{}] ", host_name(), ::getpid(), ::syscall(SYS_gettid),
                  name_of(level), subsystem_names.at(static_cast<std::size_t>(subsystem)));
  std::string lines;
  for (const std::string_view line : split(text, '\n')) {
    lines += prefix;
    std::transform(line.begin(), line.end(), std::back_inserter(lines), [](char c) {
      return static_cast<unsigned char>(c) < ' ' && c != '\t' ? '?' : c;
    });
    lines += '\n';
  }
  return lines;
}

// The one place with a life of its own in this library: a line may be written before there is any
// communicator to hang a logger on, and by any thread.
class Sink {
 public:
  [[nodiscard]] bool enabled(Level level, Subsystem subsystem) const {
    // relaxed: the values stand alone; a line more or less while they change is harmless.
    return level <= Level::warn || (level <= level_.load(std::memory_order_relaxed) &&
                                    (mask_.load(std::memory_order_relaxed) &
                                     SubsystemMask{1} << static_cast<unsigned>(subsystem)) != 0);
  }

  void configure(Level level, SubsystemMask mask, UniqueFd file) {
    const std::lock_guard lock(mutex_);
    file_ = std::move(file);
    level_.store(level, std::memory_order_relaxed);  // see enabled()
    mask_.store(mask, std::memory_order_relaxed);
  }

  // One write(2): lines of several processes in one file stay whole (O_APPEND).
  void write(std::string_view lines) {
    const std::lock_guard lock(mutex_);
    const int fd = file_.valid() ? file_.get() : STDERR_FILENO;
    while (!lines.empty()) {
      const ssize_t written = ::write(fd, lines.data(), lines.size());
      if (written < 0 && errno != EINTR) {
        return;  // nowhere left to report it
      }
      lines.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
  }

 private:
  std::mutex mutex_;  // keeps file_ open while a line is written
  UniqueFd file_;     // invalid: stderr
  std::atomic<Level> level_{Level::warn};
  std::atomic<SubsystemMask> mask_{all_subsystems};
};

// Never destroyed: threads and other libraries' destructors may still log while the process exits.
Sink& sink() {
  static auto* const instance = new Sink;
  return *instance;
}

}  // namespace

Status configure(const Settings& settings) {
  UniqueFd file;
  if (!settings.debug_file.empty()) {
    constexpr mode_t readable_by_all = 0644;
    const std::string path = expand_path(settings.debug_file);
    file.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, readable_by_all));
    if (!file.valid()) {
      const int error_number = errno;
      return system_failure(fmt::format("GYRE_DEBUG_FILE: open(\"{}\")", path), error_number);
    }
  }
  sink().configure(level_of(settings.debug), parse_subsystems(settings.debug_subsys),
                   std::move(file));
  return {};
}

void report(const Settings& settings) {
  if (!enabled(Level::info, Subsystem::env)) {
    return;
  }
  for (const SettingReport& row : report_settings(settings)) {
    info(Subsystem::env, "{}=\"{}\" from {}, default \"{}\"", row.name, row.value,
         gyre::name_of(row.origin), row.preset);
  }
}

bool enabled(Level level, Subsystem subsystem) {
  return sink().enabled(level, subsystem);
}

void write(Level level, Subsystem subsystem, std::string_view text) {
  const int kept_errno = errno;  // callers often log between a failed call and its report
  sink().write(compose(level, subsystem, text));
  errno = kept_errno;
}

}  // namespace gyre::log

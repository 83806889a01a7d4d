// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_room.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include <fmt/core.h>

namespace gyre {
namespace {

std::optional<std::size_t> parse_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) {
    return std::nullopt;
  }
  return value;
}

// "max" and a missing file are no limit.
std::optional<std::size_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return parse_number(word);
}

// The number after `key` in lines of "key number ...".
std::optional<std::size_t> read_field(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::string number;
    if (words >> name >> number && name == key) {
      return parse_number(number);
    }
  }
  return std::nullopt;
}

std::size_t read_meminfo(std::string_view root, std::string_view key) {
  const auto kibibytes = read_field(fmt::format("{}/proc/meminfo", root), key);
  return kibibytes.value_or(0) * 1024;
}

struct GroupFiles {
  std::string_view limit;
  std::string_view usage;
  // Page cache, which the kernel drops to make room, is part of the usage. Memory of segments is
  // not counted there: it is on the anonymous lists.
  std::array<std::string_view, 2> droppable;
};

constexpr GroupFiles files_v1{
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
constexpr GroupFiles files_v2{"memory.max", "memory.current", {"inactive_file", "active_file"}};

// Nothing when there is no limit, or more room than `known` anyway: the statistics are slow to
// read.
std::optional<std::size_t> room_of_group(const std::string& folder, const GroupFiles& files,
                                         std::size_t known) {
  const auto limit = read_number(fmt::format("{}/{}", folder, files.limit));
  const auto usage = read_number(fmt::format("{}/{}", folder, files.usage));
  if (!limit || !usage || *limit - std::min(*limit, *usage) >= known) {
    return std::nullopt;
  }
  std::size_t droppable = 0;
  for (const std::string_view key : files.droppable) {
    droppable += read_field(folder + "/memory.stat", key).value_or(0);
  }
  const std::size_t used = *usage - std::min(*usage, droppable);
  return *limit - std::min(*limit, used);
}

struct Group {
  std::string mount;
  std::string path;
  const GroupFiles* files = nullptr;
};

// Lines of /proc/self/cgroup are "number:controllers:path"; v2 has number 0 and no controllers.
std::vector<Group> read_groups(std::string_view root) {
  std::vector<Group> groups;
  std::ifstream file(fmt::format("{}/proc/self/cgroup", root));
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      groups.push_back({fmt::format("{}/sys/fs/cgroup", root), path, &files_v2});
    } else if (fmt::format(",{},", controllers).find(",memory,") != std::string::npos) {
      groups.push_back({fmt::format("{}/sys/fs/cgroup/memory", root), path, &files_v1});
    }
  }
  return groups;
}

void tighten(std::optional<MemoryRoom>& room, std::size_t bytes, std::string source) {
  if (!room || bytes < room->bytes) {
    room = MemoryRoom{bytes, std::move(source)};
  }
}

// A limit of any ancestor binds, too. In a container the path may not exist below the mount; its
// root, the last one tried, is the container's own group then.
void tighten_by_group(std::optional<MemoryRoom>& room, const Group& group, std::size_t swap) {
  std::string path = group.path == "/" ? "" : group.path;
  for (;;) {
    const std::string folder = group.mount + path;
    const std::size_t known = room ? room->bytes : std::numeric_limits<std::size_t>::max();
    if (const auto bytes = room_of_group(folder, *group.files, known)) {
      tighten(room, *bytes + swap, fmt::format("the memory limit of control group {}", folder));
    }
    if (path.empty()) {
      return;
    }
    path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

std::optional<MemoryRoom> read_memory_room(std::string_view root) {
  std::optional<MemoryRoom> room;
  const std::size_t swap = read_meminfo(root, "SwapFree:");
  if (const std::size_t available = read_meminfo(root, "MemAvailable:"); available > 0) {
    tighten(room, available + swap, "the machine's available memory and free swap");
  }
  for (const Group& group : read_groups(root)) {
    tighten_by_group(room, group, swap);
  }
  return room;
}

Status check_memory_room(std::size_t bytes) {
  if (const auto room = read_memory_room(); room && bytes > room->bytes) {
    return fail(Code::system_error,
                fmt::format("Shared memory of {} ({} bytes) does not fit: {} leaves {} ({} bytes). "
                            "Use smaller buffers or fewer ranks on this host, or raise the limit.",
                            readable_bytes(bytes), bytes, room->source, readable_bytes(room->bytes),
                            room->bytes));
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      bytes > limit.rlim_cur) {
    return fail(Code::system_error,
                fmt::format("Shared memory of {} ({} bytes) is more than this process may write to "
                            "one file: its limit is {} bytes. Raise it with `ulimit -f unlimited`.",
                            readable_bytes(bytes), bytes, limit.rlim_cur));
  }
  return {};
}

std::string readable_bytes(std::size_t bytes) {
  constexpr std::array<const char*, 5> units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace gyre

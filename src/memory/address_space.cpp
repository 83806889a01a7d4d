// SPDX-License-Identifier: Apache-2.0
#include "memory/address_space.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <optional>

#include "base/unique_fd.h"

namespace gyre {
namespace {

// "7f3a4c000000-7f3a4c021000 rw-p 00000000 00:00 0      name"
std::optional<AddressRange> parse_line(const std::string& line) {
  AddressRange range;
  std::array<char, 5> permissions{};
  std::array<char, 16> device{};
  int name_at = 0;
  const int fields = std::sscanf(
      line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64 " %15s %" SCNu64 " %n", &range.begin,
      &range.end, permissions.data(), &range.offset, device.data(), &range.inode, &name_at);
  if (fields != 6 || permissions[3] == '\0') {
    return std::nullopt;
  }
  range.permissions = permissions.data();
  range.device = device.data();
  range.name = line.substr(static_cast<std::size_t>(name_at));
  return range;
}

Result<std::string> read_maps() {
  const UniqueFd file(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return system_failure("open(/proc/self/maps)");
  }
  std::string text;
  std::array<char, 16384> piece{};
  for (;;) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count > 0) {
      text.append(piece.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      return text;
    } else if (errno != EINTR) {
      return system_failure("read(/proc/self/maps)");
    }
  }
}

}  // namespace

int AddressRange::protection() const {
  return (permissions[0] == 'r' ? PROT_READ : 0) | (permissions[1] == 'w' ? PROT_WRITE : 0) |
         (permissions[2] == 'x' ? PROT_EXEC : 0);
}

std::vector<AddressRange> parse_maps(std::string_view maps, std::uintptr_t begin,
                                     std::uintptr_t end) {
  std::vector<AddressRange> found;
  while (!maps.empty()) {
    const std::size_t length = maps.find('\n');
    const auto range = parse_line(std::string(maps.substr(0, length)));
    maps.remove_prefix(length == std::string_view::npos ? maps.size() : length + 1);
    if (range && range->begin < end && range->end > begin) {
      found.push_back(*range);
    }
  }
  return found;
}

Result<std::vector<AddressRange>> mapped_ranges(const void* begin, std::size_t bytes) {
  const Result<std::string> maps = read_maps();
  GYRE_TRY(maps);
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return parse_maps(*maps, first, first + bytes);
}

std::uintptr_t first_hole(const std::vector<AddressRange>& ranges, std::uintptr_t begin,
                          std::uintptr_t end) {
  std::uintptr_t covered = begin;
  for (const AddressRange& range : ranges) {
    if (range.begin > covered || covered >= end) {
      break;
    }
    covered = range.end;
  }
  return covered < end ? covered : end;
}

}  // namespace gyre

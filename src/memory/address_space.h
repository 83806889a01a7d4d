// SPDX-License-Identifier: Apache-2.0
// What the kernel says is mapped in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gyre {

// One line of /proc/self/maps.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::string permissions;   // "rw-p"
  std::uint64_t offset = 0;  // in the file
  std::string device;        // "00:01"
  std::uint64_t inode = 0;   // 0: no file
  std::string name;          // path of the file, or "[heap]", "[stack]", "[anon:...]", or empty

  [[nodiscard]] bool shared() const { return permissions[3] == 's'; }
  // PROT_ bits.
  [[nodiscard]] int protection() const;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// The lines of `maps` that touch [begin, end), in order of address.
[[nodiscard]] std::vector<AddressRange> parse_maps(std::string_view maps, std::uintptr_t begin,
                                                   std::uintptr_t end);
// The same of this process.
Result<std::vector<AddressRange>> mapped_ranges(const void* begin, std::size_t bytes);

// The first address of [begin, end) that no range covers; `end` when all is covered.
[[nodiscard]] std::uintptr_t first_hole(const std::vector<AddressRange>& ranges,
                                        std::uintptr_t begin, std::uintptr_t end);

}  // namespace gyre

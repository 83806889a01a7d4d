// SPDX-License-Identifier: Apache-2.0
// How much memory can still be committed, asked before it is: the kernel's own answer to a segment
// that does not fit may be a kill instead of an error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gyre {

struct MemoryRoom {
  std::size_t bytes = 0;
  std::string source;  // what sets the limit, for a person
};

// The tightest limit that this process can see: the machine's available memory and its control
// groups (v1 and v2), each plus free swap. Nothing when none can be read. `root` is "" but in
// tests.
[[nodiscard]] std::optional<MemoryRoom> read_memory_room(std::string_view root = {});

// A system_error with sizes and advice when `bytes` more do not fit, or when RLIMIT_FSIZE forbids
// a file of that size (the kernel would end the process by SIGXFSZ).
[[nodiscard]] Status check_memory_room(std::size_t bytes);

// "64.0 MiB"
[[nodiscard]] std::string readable_bytes(std::size_t bytes);

}  // namespace gyre

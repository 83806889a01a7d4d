// SPDX-License-Identifier: Apache-2.0
// Files that people write, read as a whole.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace gyre {

// The error names the file and the reason; a file of more than `most_bytes` is refused unread.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes);

}  // namespace gyre

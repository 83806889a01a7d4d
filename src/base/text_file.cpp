// SPDX-License-Identifier: Apache-2.0
#include "base/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/unique_fd.h"

namespace gyre {

Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes) {
  // Not blocking: a pipe that nobody writes must not stop the program.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_failure(fmt::format("open(\"{}\")", path));
  constexpr std::size_t piece = 64 * 1024;
  std::string text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    const ssize_t got = ::read(file.get(), text.data() + before, piece);
    if (got < 0 && errno != EINTR) return system_failure(fmt::format("read(\"{}\")", path));
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
    if (text.size() > most_bytes) {
      return fail(Code::invalid_argument,
                  fmt::format("{} is longer than {} bytes, the most that is read of such a file.",
                              path, most_bytes));
    }
  }
}

}  // namespace gyre

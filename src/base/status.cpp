// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <cerrno>
#include <system_error>

#include <fmt/core.h>

namespace gyre {

Unexpected system_failure(std::string_view call, int error_number) {
  const int number = error_number < 0 ? errno : error_number;
  return fail(Code::system_error, fmt::format("{}: {} (errno {})", call,
                                              std::generic_category().message(number), number));
}

}  // namespace gyre

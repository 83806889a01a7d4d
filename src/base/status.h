// SPDX-License-Identifier: Apache-2.0
// Errors as values: Status and Result<T>. Nothing in Gyre throws across a layer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace gyre {

// The numbers are those of gyreResult_t (core checks that by static_assert).
enum class Code : std::uint8_t {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
  timeout = 8,
  not_supported = 9,
  aborted = 10,
};

// What happened, why that usually happens, what to do: whole sentences, for a person.
struct Error {
  Code code = Code::internal_error;
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;
using Unexpected = tl::unexpected<Error>;

[[nodiscard]] inline Unexpected fail(Code code, std::string message) {
  return Unexpected(Error{code, std::move(message)});
}

// "<call>: <strerror(errno)> (errno N)" as a system_error; reads errno when no number is given.
[[nodiscard]] Unexpected system_failure(std::string_view call, int error_number = -1);

}  // namespace gyre

// The one macro for control flow: leave the function with the error of a Status or Result.
#define GYRE_TRY(expression)                                      \
  do {                                                            \
    if (auto&& gyre_status_ = (expression); !gyre_status_) {      \
      return ::gyre::Unexpected(std::move(gyre_status_).error()); \
    }                                                             \
  } while (false)

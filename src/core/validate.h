// SPDX-License-Identifier: Apache-2.0
// What can be said about arguments before anything is done. Each text names argument and value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "gyre/gyre.h"
#include "memory/types.h"

namespace gyre::core {

Status check_type(gyreDataType_t type);
// count * size must fit in half the address space, so that no sum of two of them overflows.
Status check_count(const char* argument, std::size_t count, gyreDataType_t type);
Status check_buffer(const char* argument, const void* buffer, std::size_t count);
Status check_rank(const char* argument, int rank, int ranks);
// Equal or apart; `bytes` each.
Status check_overlap(const void* sendbuff, const void* recvbuff, std::size_t bytes);
// Two buffers of the given lengths lie apart, or in place: recvbuff begins `shift` bytes after
// sendbuff. `form` says in words when that is.
Status check_sections_overlap(const void* sendbuff, std::size_t send_bytes, const void* recvbuff,
                              std::size_t receive_bytes, std::ptrdiff_t shift, const char* form);
// A built-in operation that exists for the type.
Status check_builtin_operation(gyreRedOp_t op, gyreDataType_t type);

// The common case of all checks of a reduction at once, without a Status for each: small calls are
// over in tens of nanoseconds. False: ask the checks above, which say what is wrong, if anything.
[[nodiscard]] inline bool plainly_good(const void* sendbuff, const void* recvbuff,
                                       std::size_t count, gyreDataType_t type) {
  constexpr std::size_t no_overflow = std::size_t{1} << 59;
  if (static_cast<unsigned>(type) >= gyreNumTypes || count > no_overflow || sendbuff == nullptr ||
      recvbuff == nullptr) {
    return false;
  }
  const auto send = reinterpret_cast<std::uintptr_t>(sendbuff);
  const auto receive = reinterpret_cast<std::uintptr_t>(recvbuff);
  const std::uintptr_t distance = send < receive ? receive - send : send - receive;
  return distance == 0 || distance >= count * size_of(static_cast<DataType>(type));
}

}  // namespace gyre::core

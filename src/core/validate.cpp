// SPDX-License-Identifier: Apache-2.0
#include "core/validate.h"

#include <cstdint>
#include <limits>

#include <fmt/core.h>

namespace gyre::core {
namespace {

constexpr std::size_t most_bytes = std::numeric_limits<std::size_t>::max() / 2;

}  // namespace

Status check_type(gyreDataType_t type) {
  if (type >= 0 && type < gyreNumTypes) [[likely]] {
    return {};
  }
  return fail(Code::invalid_argument,
              fmt::format("datatype is {}, which is no gyreDataType_t: it must be in [0, {}).",
                          static_cast<int>(type), static_cast<int>(gyreNumTypes)));
}

Status check_count(const char* argument, std::size_t count, gyreDataType_t type) {
  const auto element = static_cast<DataType>(type);
  std::size_t bytes = 0;
  // A product instead of a quotient: small calls are over before a division is.
  if (!__builtin_mul_overflow(count, size_of(element), &bytes) && bytes <= most_bytes) [[likely]] {
    return {};
  }
  return fail(Code::invalid_argument,
              fmt::format("{} is {}: that many elements of {} ({} bytes each) are more bytes than "
                          "an address can count. Is a negative number passed as a count?",
                          argument, count, name_of(element), size_of(element)));
}

Status check_buffer(const char* argument, const void* buffer, std::size_t count) {
  if (buffer != nullptr || count == 0) [[likely]] {
    return {};
  }
  return fail(Code::invalid_argument,
              fmt::format("{} is NULL although {} elements are asked for.", argument, count));
}

Status check_rank(const char* argument, int rank, int ranks) {
  if (rank >= 0 && rank < ranks) [[likely]] {
    return {};
  }
  return fail(Code::invalid_argument,
              fmt::format("{} is {}: it must be in [0, {}), the ranks of this communicator.",
                          argument, rank, ranks));
}

Status check_overlap(const void* sendbuff, const void* recvbuff, std::size_t bytes) {
  const auto send = reinterpret_cast<std::uintptr_t>(sendbuff);
  const auto receive = reinterpret_cast<std::uintptr_t>(recvbuff);
  const std::uintptr_t distance = send < receive ? receive - send : send - receive;
  if (distance == 0 || distance >= bytes) [[likely]] {
    return {};
  }
  return fail(Code::invalid_argument,
              fmt::format("sendbuff {} and recvbuff {} overlap without being equal: they are {} "
                          "bytes apart and {} bytes long. Pass the same pointer twice to work in "
                          "place, or buffers that lie apart.",
                          sendbuff, recvbuff, distance, bytes));
}

Status check_sections_overlap(const void* sendbuff, std::size_t send_bytes, const void* recvbuff,
                              std::size_t receive_bytes, std::ptrdiff_t shift, const char* form) {
  const auto send = reinterpret_cast<std::intptr_t>(sendbuff);
  const auto receive = reinterpret_cast<std::intptr_t>(recvbuff);
  const bool apart = send + static_cast<std::intptr_t>(send_bytes) <= receive ||
                     receive + static_cast<std::intptr_t>(receive_bytes) <= send;
  if (apart || receive - send == shift) {
    return {};
  }
  return fail(Code::invalid_argument,
              fmt::format("sendbuff {} ({} bytes) and recvbuff {} ({} bytes) overlap. In place {}; "
                          "otherwise they must lie apart.",
                          sendbuff, send_bytes, recvbuff, receive_bytes, form));
}

Status check_builtin_operation(gyreRedOp_t op, gyreDataType_t type) {
  if (op < 0 || op >= gyreNumOps) {
    return fail(Code::invalid_argument,
                fmt::format("op is {}, which is neither a built-in operation nor one that "
                            "gyreRedOpCreatePreMulSum or gyreRedOpCreateUser made for this "
                            "communicator.",
                            static_cast<int>(op)));
  }
  if (op >= gyreBand && !is_integer(static_cast<DataType>(type))) {
    return fail(Code::invalid_argument,
                fmt::format("op is {}, a bitwise operation, and datatype is {}: bitwise operations "
                            "exist for integer types only.",
                            op == gyreBand ? "band" : (op == gyreBor ? "bor" : "bxor"),
                            name_of(static_cast<DataType>(type))));
  }
  return {};
}

}  // namespace gyre::core

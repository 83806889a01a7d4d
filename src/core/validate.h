// SPDX-License-Identifier: Apache-2.0
// What can be said about arguments before anything is done. Each text names argument and value.
#pragma once

#include <cstddef>

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
// A built-in operation that exists for the type.
Status check_builtin_operation(gyreRedOp_t op, gyreDataType_t type);

}  // namespace gyre::core

// SPDX-License-Identifier: Apache-2.0
// The operations that tests make: users' functions, and premulsum with another factor on each rank.
#pragma once

#include <gyre/gyre.h>

#include <array>
#include <cstddef>
#include <map>

#include "support/checks.h"
#include "support/element.h"
#include "support/job.h"
#include "support/reference.h"

namespace gyre::test {

inline void user_xor(const void* in, void* inout, std::size_t count, gyreDataType_t type, void*) {
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  for (std::size_t i = 0; i < count * size_of(type); ++i) {
    to[i] ^= from[i];
  }
}

inline void user_leftmost(const void* in, void* inout, std::size_t count, gyreDataType_t type,
                          void*) {
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  for (std::size_t i = 0; i < count * size_of(type); ++i) {
    to[i] = from[i] != std::byte{0} ? from[i] : to[i];
  }
}

// Operations of a communicator by what the reference calls them. Those of the user are made once,
// premulsum once for each type.
class MadeOperations {
 public:
  MadeOperations(Checks& checks, gyreComm_t comm) : checks_(checks), comm_(comm) {
    checks.succeeded(gyreRedOpCreateUser(&xor_, user_xor, 1, nullptr, comm), "an operation");
    checks.succeeded(gyreRedOpCreateUser(&leftmost_, user_leftmost, 0, nullptr, comm),
                     "an operation");
  }

  [[nodiscard]] gyreRedOp_t get(Operation operation, gyreDataType_t type) {
    switch (operation) {
      case Operation::user_xor:
        return xor_;
      case Operation::user_leftmost:
        return leftmost_;
      case Operation::premulsum:
        return premulsum(type);
      default:
        return static_cast<gyreRedOp_t>(operation);
    }
  }

 private:
  gyreRedOp_t premulsum(gyreDataType_t type) {
    const auto [found, fresh] = premulsums_.try_emplace(type);
    if (fresh) {
      std::array<std::byte, 8> scalar{};
      store_bits(type, scalar_of(type, own_rank()), scalar.data());
      checks_.succeeded(gyreRedOpCreatePreMulSum(&found->second, scalar.data(), type, comm_),
                        "gyreRedOpCreatePreMulSum");
    }
    return found->second;
  }

  Checks& checks_;
  gyreComm_t comm_;
  gyreRedOp_t xor_{};
  gyreRedOp_t leftmost_{};
  std::map<gyreDataType_t, gyreRedOp_t> premulsums_;
};

}  // namespace gyre::test

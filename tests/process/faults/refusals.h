// SPDX-License-Identifier: Apache-2.0
// Bad calls of one communicator: each must be refused with its text, and leave the communicator as
// sound as it was.
#pragma once

#include <gyre/gyre.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "support/checks.h"
#include "support/job.h"

namespace gyre::test {

inline constexpr std::size_t far_too_many = SIZE_MAX / 2;

// A bad value that a C program can pass, which no enumerator has.
template <typename Enum>
Enum forged(int value) {
  Enum made{};
  static_assert(sizeof(made) == sizeof(value));
  std::memcpy(&made, &value, sizeof(made));
  return made;
}

inline gyreComm_t forged_handle(std::uintptr_t value) {
  return reinterpret_cast<gyreComm_t>(value);
}

class Refusals {
 public:
  Refusals(Checks& checks, gyreComm_t comm) : checks_(checks), comm_(comm) {}

  void refuse(gyreResult_t result, std::string_view what,
              std::initializer_list<std::string_view> words,
              gyreResult_t expected = gyreInvalidArgument) {
    const std::string name(what);
    checks_.refused(result, expected, what, words);
    const int one = 1;
    int sum = -1;
    checks_.succeeded(gyreAllReduce(&one, &sum, 1, gyreInt32, gyreSum, comm_, nullptr),
                      "a good call after " + name);
    checks_.that(sum == world_size(), "the right sum after " + name);
    gyreResult_t state = gyreInternalError;
    checks_.succeeded(gyreCommGetAsyncError(comm_, &state), "gyreCommGetAsyncError");
    checks_.that(state == gyreSuccess, "a sound communicator after " + name);
  }

  [[nodiscard]] gyreResult_t reduce(const void* in, void* out, std::size_t count,
                                    gyreDataType_t type = gyreFloat32,
                                    gyreRedOp_t op = gyreSum) const {
    return gyreAllReduce(in, out, count, type, op, comm_, nullptr);
  }
  [[nodiscard]] gyreComm_t comm() const { return comm_; }

 private:
  Checks& checks_;
  gyreComm_t comm_;
};

}  // namespace gyre::test

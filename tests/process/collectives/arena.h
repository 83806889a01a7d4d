// SPDX-License-Identifier: Apache-2.0
// One long buffer of a rank, of each kind of memory, out of which the cases cut pieces.
#pragma once

#include <gyre/gyre.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "support/checks.h"

namespace gyre::test {

enum class Memory : std::uint8_t { heap, shared, registered, mixed };
inline constexpr int memory_count = 4;

[[nodiscard]] inline std::string_view name_of(Memory memory) {
  switch (memory) {
    case Memory::heap:
      return "heap";
    case Memory::shared:
      return "gyreMemAlloc";
    case Memory::registered:
      return "registered in place";
    case Memory::mixed:
      return "heap on odd ranks only";
  }
  return "";
}

class Arena {
 public:
  Arena(Checks& checks, gyreComm_t comm, Memory memory, std::size_t bytes)
      : comm_(comm), memory_(memory) {
    if (memory == Memory::shared) {
      void* shared = nullptr;
      checks.succeeded(gyreMemAlloc(&shared, bytes), "gyreMemAlloc");
      data_ = static_cast<std::byte*>(shared);
      return;
    }
    data_ = static_cast<std::byte*>(std::malloc(bytes));
    if (memory == Memory::registered) {
      checks.succeeded(
          gyreCommRegister(comm, data_, bytes, GYRE_REGISTER_SHARE_IN_PLACE, &registration_),
          "gyreCommRegister");
    }
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    if (memory_ == Memory::shared) {
      static_cast<void>(gyreMemFree(data_));
      return;
    }
    if (registration_ != nullptr) {
      static_cast<void>(gyreCommDeregister(comm_, registration_));
    }
    std::free(data_);
  }

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  gyreComm_t comm_;
  Memory memory_;
  std::byte* data_ = nullptr;
  gyreRegistration_t registration_ = nullptr;
};

}  // namespace gyre::test

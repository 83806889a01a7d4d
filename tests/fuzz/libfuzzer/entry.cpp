// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gyre::fuzz::consume({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}

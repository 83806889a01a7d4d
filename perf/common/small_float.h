// SPDX-License-Identifier: Apache-2.0
// The 16- and 8-bit floats in plain scalar code, independent of the library that is checked.
#pragma once

#include <cstdint>

#include "perf/common/element.h"

namespace perf {

// `value` must be a finite value of the type: the benchmark's inputs are, so nothing is rounded.
[[nodiscard]] std::uint16_t encode_small_float(ElementType type, float value);
// Infinities and NaNs included.
[[nodiscard]] float decode_small_float(ElementType type, std::uint16_t bits);

}  // namespace perf

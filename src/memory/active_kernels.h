// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "memory/kernel_table.h"

namespace gyre {

// The table of this process: the best target of the processor, or the scalar one when forced.
[[nodiscard]] const KernelTable& active_kernels();

}  // namespace gyre

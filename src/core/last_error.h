// SPDX-License-Identifier: Apache-2.0
// The text behind gyreGetLastError: what the calling thread's newest failed call said.
#pragma once

#include <string>

#include "base/status.h"
#include "gyre/gyre.h"

namespace gyre::core {

[[nodiscard]] gyreResult_t to_result(Code code);

// Remembers the text for this thread and gives the code for the caller. Known-bad arguments are
// logged once at INFO only: the caller has the text; other failures are a WARN line.
gyreResult_t report(const Error& error);
inline gyreResult_t report(const Status& status) {
  return status ? gyreSuccess : report(status.error());
}

[[nodiscard]] const std::string& last_error();

}  // namespace gyre::core

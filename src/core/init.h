// SPDX-License-Identifier: Apache-2.0
// What every way to make a communicator needs: the caller's configuration, and the handle in the end.
#pragma once

#include "base/settings.h"
#include "base/status.h"
#include "core/communicator.h"
#include "gyre/gyre.h"

namespace gyre::core {

[[nodiscard]] CommunicatorOptions defaults_of(const Settings& settings);
// `given` may be null; what it leaves open stays as in `defaults`.
[[nodiscard]] Result<CommunicatorOptions> options_from(const gyreConfig_t* given,
                                                       CommunicatorOptions defaults);

// Makes the communicator that `options` name, and its handle. Inside a group, when the group ends, so
// that one thread may make several communicators of one job.
Status connect(Process& process, const CommunicatorOptions& options, gyreComm_t* comm);

// An id, and its root in this process, which is kept while its ranks may come.
Result<gyreUniqueId> make_unique_id(Process& process);

}  // namespace gyre::core

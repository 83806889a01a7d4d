// SPDX-License-Identifier: Apache-2.0
// Hands a unique id from one process to others of the same user on the same host, over an abstract
// Unix socket that all know the name of. Both sides ask the kernel who the other is (SO_PEERCRED):
// another user can neither fetch the id nor foist one on us.
#pragma once

#include <string_view>

#include "base/status.h"
#include "bootstrap/unique_id.h"
#include "net/address.h"
#include "net/deadline.h"
#include "net/event_loop.h"

namespace gyre::bootstrap {

// Serves `id` on the loop until ranks 1 to size - 1 have fetched it or the deadline has passed.
Status serve_id(net::EventLoop& loop, const net::Address& name, const UniqueId& id, int size,
                net::Deadline deadline);

// Waits until somebody serves at `name` and fetches the id. Blocking.
Result<UniqueId> fetch_id(const net::Address& name, int rank, net::Deadline deadline);

}  // namespace gyre::bootstrap

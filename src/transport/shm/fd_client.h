// SPDX-License-Identifier: Apache-2.0
// Fetches and maps the segments of peers on the same host. Called on user threads, never on the
// event loop's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "memory/shared_segment.h"
#include "net/deadline.h"
#include "net/handshake.h"
#include "transport/shm/fd_server.h"

namespace gyre::shm {

struct FetchRequest {
  std::string address;    // of the owner's FdServer
  net::Credentials mine;  // of the calling rank
  int owner = -1;         // the peer's rank
  ObjectName name;
  net::Deadline deadline;
  // Asked every few milliseconds while waiting; true ends the call with Code::aborted. May be
  // empty.
  std::function<bool()> interrupted;
};

struct Fetched {
  UniqueFd fd;
  std::size_t bytes = 0;
};

// Errors name the owner's rank: timeout, remote_error (gone, or it refused), system_error.
Result<Fetched> fetch(const FetchRequest& request);

// fetch() and PeerMapping::map(), or the owner's mapping when it lives in this process (`own` is
// this process's server). `bytes` 0: whatever size the owner names.
Result<PeerMapping> fetch_mapping(const FdServer& own, const FetchRequest& request,
                                  std::size_t bytes, Access access);

}  // namespace gyre::shm

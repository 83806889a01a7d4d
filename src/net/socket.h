// SPDX-License-Identifier: Apache-2.0
// Sockets as Gyre uses them: non-blocking, close-on-exec, no Nagle delay; every call survives
// EINTR; every wait has a deadline. The blocking forms poll, and may not be used on a loop thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"
#include "net/address.h"
#include "net/bytes.h"
#include "net/deadline.h"

namespace gyre::net {

// GYRE_PORT_RANGE: ports that listeners may take. first == 0: any free port.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  static Result<PortRange> parse(std::string_view text);
};

struct Listener {
  UniqueFd fd;
  Address address;  // with the port that was taken
};

// Listens on `address`. Its port, when not 0, is used as it is; else one out of `range`.
Result<Listener> listen_on(const Address& address, PortRange range = {});

// Takes one waiting connection; nullopt when there is none (or it vanished meanwhile).
Result<std::optional<UniqueFd>> accept_one(int listener, Address* peer);

// Starts a connect; *in_progress says whether it must still become writable.
Result<UniqueFd> start_connect(const Address& address, bool* in_progress);
// Connects within the deadline. One attempt: refusal is an error at once.
Result<UniqueFd> connect_to(const Address& address, Deadline deadline);

// Waits until all of `bytes` went out / came in. End of stream is a remote_error.
Status write_all(int fd, ByteView bytes, Deadline deadline);
Status read_exactly(int fd, std::span<std::byte> bytes, Deadline deadline);

// True when `events` (POLLIN, POLLOUT) are there before the deadline.
Result<bool> wait_for(int fd, short events, Deadline deadline);

Result<Address> local_address(int fd);
Result<Address> peer_address(int fd);
// Process at the other end of a Unix socket (SO_PEERCRED).
struct PeerProcess {
  pid_t pid = 0;
  uid_t uid = 0;
};
Result<PeerProcess> peer_process(int fd);

// A peer whose machine vanished without a word is noticed within about 30 s: keepalive probes when
// idle, TCP_USER_TIMEOUT while data is unacknowledged. No effect on Unix sockets.
Status watch_for_silent_loss(int fd);

// Raises the soft limit of open descriptors to the hard one; false when it is there already.
bool raise_descriptor_limit();

}  // namespace gyre::net

// SPDX-License-Identifier: Apache-2.0
#include "net/socket.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <random>

#include <fmt/format.h>

namespace gyre::net {
namespace {

// Seconds before, between, and number of the probes of an idle connection.
constexpr int keepalive_idle_s = 10;
constexpr int keepalive_interval_s = 5;
constexpr int keepalive_probes = 4;
constexpr unsigned unacknowledged_ms = 30'000;

bool out_of_descriptors(int error_number) {
  return error_number == EMFILE;
}

Unexpected descriptor_failure(std::string_view call, int error_number) {
  if (!out_of_descriptors(error_number)) {
    return system_failure(call, error_number);
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return fail(Code::system_error,
              fmt::format("{}: this process has reached its limit of {} open descriptors (hard "
                          "limit {}). Raise it with ulimit -n or in the container's settings.",
                          call, limit.rlim_cur, limit.rlim_max));
}

Status set_option(int fd, int level, int name, const char* text, int value) {
  if (::setsockopt(fd, level, name, &value, sizeof value) != 0) {
    return system_failure(text);
  }
  return {};
}

Result<UniqueFd> open_socket(int family) {
  const auto open = [family] {
    return UniqueFd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  };
  UniqueFd fd = open();
  if (!fd.valid() && out_of_descriptors(errno) && raise_descriptor_limit()) {
    fd = open();
  }
  if (!fd.valid()) {
    return descriptor_failure("socket", errno);
  }
  if (family != AF_UNIX) {
    GYRE_TRY(set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, "setsockopt(TCP_NODELAY)", 1));
  }
  return fd;
}

Result<Listener> listen_at(const Address& address) {
  Result<UniqueFd> fd = open_socket(address.family());
  if (!fd) {
    return Unexpected(fd.error());
  }
  if (address.family() != AF_UNIX) {
    GYRE_TRY(set_option(fd->get(), SOL_SOCKET, SO_REUSEADDR, "setsockopt(SO_REUSEADDR)", 1));
  }
  if (::bind(fd->get(), address.get(), address.length()) != 0) {
    return system_failure(fmt::format("bind to {}", address.to_string()));
  }
  if (::listen(fd->get(), SOMAXCONN) != 0) {
    return system_failure(fmt::format("listen on {}", address.to_string()));
  }
  Result<Address> bound = local_address(fd->get());
  if (!bound) {
    return Unexpected(bound.error());
  }
  return Listener{std::move(*fd), *bound};
}

// Starts somewhere in the middle, so that processes which start together do not all fight for the
// first port.
Result<Listener> listen_in(const Address& address, PortRange range) {
  const unsigned count = range.last - range.first + 1u;
  const unsigned start = std::random_device{}() % count;
  std::string newest;
  for (unsigned i = 0; i < count; ++i) {
    const auto port = static_cast<std::uint16_t>(range.first + (start + i) % count);
    Result<Listener> listener = listen_at(address.with_port(port));
    if (listener) {
      return listener;
    }
    newest = listener.error().message;
  }
  return fail(Code::system_error,
              fmt::format("No port of GYRE_PORT_RANGE={}-{} is free (the newest attempt: {}). Each "
                          "rank needs one port, and the root of each communicator another. Widen "
                          "the range or end what occupies it.",
                          range.first, range.last, newest));
}

Status pending_error(int fd, const Address& address) {
  int error_number = 0;
  socklen_t length = sizeof error_number;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error_number, &length) != 0) {
    error_number = errno;
  }
  if (error_number != 0) {
    return system_failure(fmt::format("connect to {}", address.to_string()), error_number);
  }
  return {};
}

Unexpected peer_gone(std::string_view what) {
  return fail(Code::remote_error, fmt::format("The other end closed the connection {}.", what));
}

}  // namespace

Result<PortRange> PortRange::parse(std::string_view text) {
  if (text.empty()) {
    return PortRange{};
  }
  PortRange range;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  if (first.ec == std::errc{} && first.ptr != end && *first.ptr == '-') {
    const auto last = std::from_chars(first.ptr + 1, end, range.last);
    if (last.ec == std::errc{} && last.ptr == end && range.first > 0 && range.first <= range.last) {
      return range;
    }
  }
  return fail(Code::invalid_argument,
              fmt::format("GYRE_PORT_RANGE=\"{}\" is no range of ports: write first-last with 1 <= "
                          "first <= last <= 65535, for example 40000-40100.",
                          text));
}

Result<Listener> listen_on(const Address& address, PortRange range) {
  if (address.port() == 0 && range.first != 0 && address.family() != AF_UNIX) {
    return listen_in(address, range);
  }
  return listen_at(address);
}

Result<std::optional<UniqueFd>> accept_one(int listener, Address* peer) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  UniqueFd fd(::accept4(listener, reinterpret_cast<sockaddr*>(&storage), &length,
                        SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) {
    const int number = errno;
    if (out_of_descriptors(number) && raise_descriptor_limit()) {
      return accept_one(listener, peer);
    }
    // Linux hands errors of the new connection to accept; the next one may be fine (accept(2)).
    for (const int transient : {EAGAIN, EINTR, ECONNABORTED, ENETDOWN, EPROTO, ENOPROTOOPT,
                                EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH}) {
      if (number == transient) {
        return std::optional<UniqueFd>{};
      }
    }
    return descriptor_failure("accept", number);
  }
  if (storage.ss_family != AF_UNIX) {
    GYRE_TRY(set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, "setsockopt(TCP_NODELAY)", 1));
  }
  if (peer != nullptr) {
    *peer = Address(reinterpret_cast<const sockaddr*>(&storage), length);
  }
  return std::optional<UniqueFd>(std::move(fd));
}

Result<UniqueFd> start_connect(const Address& address, bool* in_progress) {
  Result<UniqueFd> fd = open_socket(address.family());
  if (!fd) {
    return fd;
  }
  *in_progress = false;
  if (::connect(fd->get(), address.get(), address.length()) != 0) {
    // After EINTR the connect goes on by itself, as after EINPROGRESS.
    if (errno != EINPROGRESS && errno != EINTR) {
      return system_failure(fmt::format("connect to {}", address.to_string()));
    }
    *in_progress = true;
  }
  return fd;
}

Result<UniqueFd> connect_to(const Address& address, Deadline deadline) {
  bool in_progress = false;
  Result<UniqueFd> fd = start_connect(address, &in_progress);
  if (!fd || !in_progress) {
    return fd;
  }
  const Result<bool> writable = wait_for(fd->get(), POLLOUT, deadline);
  if (!writable) {
    return Unexpected(writable.error());
  }
  if (!*writable) {
    return fail(Code::timeout,
                fmt::format("{} did not answer the connection request in time. Is the address "
                            "right, the host up, and no firewall between?",
                            address.to_string()));
  }
  GYRE_TRY(pending_error(fd->get(), address));
  return fd;
}

Result<bool> wait_for(int fd, short events, Deadline deadline) {
  while (true) {
    pollfd entry{fd, events, 0};
    const int count = ::poll(&entry, 1, milliseconds_until(deadline));
    if (count > 0) {
      return true;
    }
    if (count < 0 && errno != EINTR) {
      return system_failure("poll");
    }
    if (Clock::now() >= deadline) {
      return false;
    }
  }
}

Status write_all(int fd, ByteView bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EPIPE || errno == ECONNRESET) {
      return peer_gone("while it was written to");
    }
    if (errno != EAGAIN && errno != EINTR) {
      return system_failure("send");
    }
    const Result<bool> writable = wait_for(fd, POLLOUT, deadline);
    if (!writable) {
      return Unexpected(writable.error());
    }
    if (!*writable) {
      return fail(Code::timeout, "The other end does not take what is sent to it.");
    }
  }
  return {};
}

Status read_exactly(int fd, std::span<std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
      continue;
    }
    if (got == 0 || errno == ECONNRESET) {
      return peer_gone("while an answer was awaited");
    }
    if (errno != EAGAIN && errno != EINTR) {
      return system_failure("recv");
    }
    const Result<bool> readable = wait_for(fd, POLLIN, deadline);
    if (!readable) {
      return Unexpected(readable.error());
    }
    if (!*readable) {
      return fail(Code::timeout, "The other end did not answer in time.");
    }
  }
  return {};
}

Result<Address> local_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    return system_failure("getsockname");
  }
  return Address(reinterpret_cast<const sockaddr*>(&storage), length);
}

Result<Address> peer_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    return system_failure("getpeername");
  }
  return Address(reinterpret_cast<const sockaddr*>(&storage), length);
}

Result<PeerProcess> peer_process(int fd) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return system_failure("getsockopt(SO_PEERCRED)");
  }
  return PeerProcess{credentials.pid, credentials.uid};
}

Status watch_for_silent_loss(int fd) {
  Result<Address> own = local_address(fd);
  if (!own || own->family() == AF_UNIX) {
    return {};
  }
  GYRE_TRY(set_option(fd, SOL_SOCKET, SO_KEEPALIVE, "setsockopt(SO_KEEPALIVE)", 1));
  GYRE_TRY(set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, "setsockopt(TCP_KEEPIDLE)", keepalive_idle_s));
  GYRE_TRY(set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, "setsockopt(TCP_KEEPINTVL)",
                      keepalive_interval_s));
  GYRE_TRY(set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, "setsockopt(TCP_KEEPCNT)", keepalive_probes));
  return set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, "setsockopt(TCP_USER_TIMEOUT)",
                    unacknowledged_ms);
}

bool raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) {
    return false;
  }
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace gyre::net

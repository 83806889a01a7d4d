// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/fd_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "net/socket.h"

namespace gyre::shm {
namespace {

// How often `interrupted` is asked.
constexpr auto wait_slice = std::chrono::milliseconds(10);
// Between attempts when the owner's backlog is full or it dropped us to let others in.
constexpr auto retry_pause = std::chrono::milliseconds(5);

bool is_interrupted(const FetchRequest& request) {
  return request.interrupted && request.interrupted();
}

// Of waits that ended without what was waited for.
Unexpected gave_up(const FetchRequest& request, std::string_view doing) {
  if (is_interrupted(request)) {
    return fail(Code::aborted,
                fmt::format("Aborted while {} rank {} for shared memory.", doing, request.owner));
  }
  return fail(Code::timeout,
              fmt::format("Rank {} did not hand over its shared memory in time (while {} it). Is "
                          "its process stopped (a debugger, SIGSTOP) or out of CPU time?",
                          request.owner, doing));
}

Status await_readable(int fd, const FetchRequest& request, std::string_view doing) {
  for (;;) {
    const net::Deadline slice = std::min(request.deadline, net::after(wait_slice));
    const Result<bool> ready = net::wait_for(fd, POLLIN, slice);
    GYRE_TRY(ready);
    if (*ready) {
      return {};
    }
    if (is_interrupted(request) || net::Clock::now() >= request.deadline) {
      return gave_up(request, doing);
    }
  }
}

Unexpected owner_left(const FetchRequest& request) {
  return fail(Code::remote_error,
              fmt::format("Rank {} closed the connection on which it was asked for shared memory. "
                          "Usually it has just ended or left the communicator.",
                          request.owner));
}

// The handshake as initiator, with waits that can be interrupted.
Status authenticate(int fd, const FetchRequest& request) {
  net::Credentials mine = request.mine;
  mine.purpose = net::Purpose::transport;
  net::Handshake handshake(net::Handshake::Role::initiator, mine);
  for (;;) {
    if (const net::Bytes output = handshake.take_output(); !output.empty()) {
      GYRE_TRY(net::write_all(fd, output, request.deadline));
    }
    if (handshake.state() != net::Handshake::State::running) {
      break;
    }
    GYRE_TRY(await_readable(fd, request, "authenticating to"));
    net::Bytes input(handshake.wanted());
    const ssize_t count = ::recv(fd, input.data(), input.size(), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
      return owner_left(request);
    }
    handshake.feed(
        net::ByteView(input).first(static_cast<std::size_t>(std::max<ssize_t>(count, 0))));
  }
  if (handshake.state() == net::Handshake::State::failed) {
    return fail(Code::invalid_usage,
                fmt::format("What answers for rank {} is no member of this communicator: {}.",
                            request.owner, handshake.reason()));
  }
  const net::PeerIdentity& peer = handshake.peer();
  if (peer.library_version != mine.library_version) {
    return Unexpected(net::version_mismatch(mine.library_version, peer.library_version,
                                            fmt::format("rank {}", request.owner)));
  }
  if (peer.rank != static_cast<std::uint32_t>(request.owner)) {
    return fail(Code::invalid_usage, fmt::format("Rank {} answered where rank {} was expected.",
                                                 peer.rank, request.owner));
  }
  return {};
}

struct Received {
  net::Bytes bytes;
  UniqueFd fd;
};

// Takes over every descriptor that came, so that none leaks whatever the peer sent.
void take_descriptors(msghdr& message, UniqueFd& fd) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
      fd.reset(number);
    }
  }
}

Result<Received> receive_reply(int socket, const FetchRequest& request) {
  Received received;
  std::array<std::byte, reply_bytes> piece{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  while (received.bytes.size() < reply_bytes) {
    GYRE_TRY(await_readable(socket, request, "asking"));
    iovec data{piece.data(), reply_bytes - received.bytes.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
      continue;
    }
    if (count <= 0) {
      return owner_left(request);
    }
    take_descriptors(message, received.fd);
    received.bytes.insert(received.bytes.end(), piece.begin(), piece.begin() + count);
  }
  return received;
}

Result<Fetched> interpret(Received received, const FetchRequest& request) {
  const auto reply = decode_reply(received.bytes);
  if (!reply) {
    return fail(Code::internal_error,
                fmt::format("Rank {} answered the request for shared memory with bytes that are no "
                            "reply. Do all ranks run the same version of Gyre?",
                            request.owner));
  }
  if (reply->answer == Answer::granted && received.fd.valid()) {
    return Fetched{std::move(received.fd), static_cast<std::size_t>(reply->bytes)};
  }
  const char* const why = reply->answer == Answer::granted
                              ? "it was lost on the way: this process has usually run out of file "
                                "descriptors; raise the limit (`ulimit -n`)"
                          : reply->answer == Answer::failed
                              ? "that rank has run out of file descriptors; raise the limit "
                                "(`ulimit -n`)"
                              : "that rank does not have it, or no longer (was it freed or "
                                "deregistered while a call was running?)";
  return fail(Code::remote_error, fmt::format("Shared memory {} of rank {} did not come: {}.",
                                              request.name.id, request.owner, why));
}

Result<Received> attempt(const net::Address& address, const FetchRequest& request) {
  const Result<UniqueFd> socket = net::connect_to(address, request.deadline);
  GYRE_TRY(socket);
  GYRE_TRY(authenticate(socket->get(), request));
  GYRE_TRY(net::write_all(socket->get(), encode_request(request.name), request.deadline));
  return receive_reply(socket->get(), request);
}

// A full backlog, or dropped in a storm of connections: passes by itself. Nobody listening is
// tried again, too: until the deadline nobody knows whether the rank ended or is only restarting.
bool worth_retrying(const Error& error) {
  return error.code == Code::system_error || error.code == Code::remote_error;
}

}  // namespace

Result<Fetched> fetch(const FetchRequest& request) {
  const Result<net::Address> address =
      net::Address::abstract_unix(socket_name(request.address, request.mine.epoch, request.owner));
  GYRE_TRY(address);
  for (;;) {
    Result<Received> received = attempt(*address, request);
    if (received) {
      return interpret(std::move(*received), request);
    }
    if (!worth_retrying(received.error())) {
      return Unexpected(std::move(received).error());
    }
    const bool late = net::Clock::now() + retry_pause >= request.deadline;
    if (late || is_interrupted(request)) {
      return fail(late ? Code::timeout : Code::aborted,
                  fmt::format("No shared memory from rank {}: {} Has its process ended?",
                              request.owner, received.error().message));
    }
    std::this_thread::sleep_for(retry_pause);
  }
}

Result<PeerMapping> fetch_mapping(const FdServer& own, const FetchRequest& request,
                                  std::size_t bytes, Access access) {
  if (request.address == own.address()) {
    auto local = own.find_local(request.mine.epoch, request.owner, request.name);
    if (!local || (bytes != 0 && local->bytes() != bytes)) {
      return fail(Code::remote_error,
                  fmt::format("Rank {}, which lives in this process, has no shared memory {} of {} "
                              "bytes. Was it freed or deregistered while a call was running?",
                              request.owner, request.name.id, bytes));
    }
    return std::move(*local);
  }
  Result<Fetched> fetched = fetch(request);
  GYRE_TRY(fetched);
  return PeerMapping::map(std::move(fetched->fd), bytes != 0 ? bytes : fetched->bytes, access);
}

}  // namespace gyre::shm

// SPDX-License-Identifier: Apache-2.0
#include "net/acceptor.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/log.h"
#include "net/text.h"

namespace gyre::net {
namespace {

// More handshakes than this at once is an attack or a storm: the oldest gives way. A member of the
// job that is hit by that dials again.
constexpr std::size_t max_pending = 1024;
// How long to leave the listener alone when descriptors have run out: it stays readable, and the
// loop would spin on it.
constexpr auto pause_when_exhausted = std::chrono::milliseconds(100);

constexpr auto first_retry = std::chrono::milliseconds(10);
constexpr auto longest_retry = std::chrono::milliseconds(500);

}  // namespace

// All but `strangers` belongs to the loop thread.
struct Acceptor::State : std::enable_shared_from_this<Acceptor::State> {
  struct Pending {
    UniqueFd fd;
    Address from;
    Handshake handshake;
    EventLoop::WatchId watch = EventLoop::WatchId::none;
    EventLoop::TimerId limit = EventLoop::TimerId::none;
  };

  State(EventLoop& loop_in, Listener listener_in, const Credentials& mine_in, OnPeer on_peer_in,
        Clock::duration limit)
      : loop(loop_in),
        listener(std::move(listener_in)),
        mine(mine_in),
        on_peer(std::move(on_peer_in)),
        handshake_limit(limit) {}

  Status open();
  void close();
  void accept_waiting();
  void pause();
  void begin(UniqueFd fd, const Address& from);
  void on_readable(std::uint64_t id);
  bool advance(Pending& pending, std::string* why);
  void drop(std::uint64_t id, const std::string& why);
  void admit(std::uint64_t id);
  UniqueFd forget(std::uint64_t id);

  EventLoop& loop;
  Listener listener;
  const Credentials mine;
  OnPeer on_peer;
  const Clock::duration handshake_limit;
  EventLoop::WatchId watch = EventLoop::WatchId::none;
  bool closed = false;
  std::uint64_t next_id = 0;
  std::map<std::uint64_t, Pending> pending;  // by age
  std::atomic<std::uint64_t> strangers{0};
};

Status Acceptor::State::open() {
  const auto watched =
      loop.watch(listener.fd.get(), EPOLLIN,
                 [self = shared_from_this()](std::uint32_t) { self->accept_waiting(); });
  if (!watched) {
    return Unexpected(watched.error());
  }
  watch = *watched;
  return {};
}

void Acceptor::State::close() {
  closed = true;
  loop.unwatch(watch);
  while (!pending.empty()) {
    forget(pending.begin()->first);
  }
  listener.fd.reset();
  on_peer = nullptr;
}

void Acceptor::State::accept_waiting() {
  while (!closed) {
    Address from;
    Result<std::optional<UniqueFd>> accepted = accept_one(listener.fd.get(), &from);
    if (!accepted) {
      log::warn(log::Subsystem::net, "cannot accept connections on {} for now: {}",
                listener.address.to_string(), accepted.error().message);
      pause();
      return;
    }
    if (!*accepted) {
      return;
    }
    begin(std::move(**accepted), from);
  }
}

void Acceptor::State::pause() {
  static_cast<void>(loop.modify(watch, 0));
  loop.call_at(after(pause_when_exhausted), [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && !self->closed) {
      static_cast<void>(self->loop.modify(self->watch, EPOLLIN));
    }
  });
}

void Acceptor::State::begin(UniqueFd fd, const Address& from) {
  if (pending.size() >= max_pending) {
    drop(pending.begin()->first, "too many handshakes are under way");
  }
  const std::uint64_t id = next_id++;
  const auto watched = loop.watch(
      fd.get(), EPOLLIN, [self = shared_from_this(), id](std::uint32_t) { self->on_readable(id); });
  if (!watched) {
    return;  // the loop is stopping
  }
  const EventLoop::TimerId limit =
      loop.call_at(after(handshake_limit), [weak = weak_from_this(), id] {
        if (const auto self = weak.lock()) {
          self->drop(id, "it did not prove itself in time");
        }
      });
  pending.emplace(id, Pending{std::move(fd), from, Handshake(Handshake::Role::responder, mine),
                              *watched, limit});
}

void Acceptor::State::on_readable(std::uint64_t id) {
  const auto found = pending.find(id);
  if (found == pending.end()) {
    return;
  }
  std::string why;
  if (!advance(found->second, &why)) {
    drop(id, why);
  } else if (found->second.handshake.state() == Handshake::State::done) {
    admit(id);
  }
}

// Reads what is there for the handshake, answers; false with a reason when it cannot succeed.
bool Acceptor::State::advance(Pending& one, std::string* why) {
  while (one.handshake.state() == Handshake::State::running) {
    Bytes input(one.handshake.wanted());
    const ssize_t got = ::recv(one.fd.get(), input.data(), input.size(), 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && errno == EAGAIN) {
      return true;
    }
    if (got <= 0) {
      *why = got == 0 ? "it closed the connection" : "it reset the connection";
      return false;
    }
    input.resize(static_cast<std::size_t>(got));
    one.handshake.feed(input);
    const Bytes output = one.handshake.take_output();
    // 96 bytes always fit into the empty buffer of a new socket; if not, the peer is hostile.
    if (!output.empty() && ::send(one.fd.get(), output.data(), output.size(), MSG_NOSIGNAL) !=
                               static_cast<ssize_t>(output.size())) {
      *why = "it does not take our answer";
      return false;
    }
  }
  *why = one.handshake.reason();
  return one.handshake.state() == Handshake::State::done;
}

UniqueFd Acceptor::State::forget(std::uint64_t id) {
  const auto found = pending.find(id);
  if (found == pending.end()) {
    return {};
  }
  loop.unwatch(found->second.watch);
  loop.cancel(found->second.limit);
  UniqueFd fd = std::move(found->second.fd);
  pending.erase(found);
  return fd;
}

void Acceptor::State::drop(std::uint64_t id, const std::string& why) {
  const auto found = pending.find(id);
  if (found == pending.end()) {
    return;
  }
  const Address from = found->second.from;
  forget(id);
  // Counted last, so that who sees the count sees the connection closed.
  const auto count = strangers.fetch_add(1, std::memory_order_release) + 1;
  log::info(log::Subsystem::net, "dropped a stranger from {} on {}: {} ({} so far)",
            from.to_string(), listener.address.to_string(), why, count);
}

void Acceptor::State::admit(std::uint64_t id) {
  const PeerIdentity peer = pending.at(id).handshake.peer();
  const Address from = pending.at(id).from;
  UniqueFd fd = forget(id);
  const OnPeer callback = on_peer;  // a copy: the callback may close us
  callback(std::move(fd), peer, from);
}

Result<std::unique_ptr<Acceptor>> Acceptor::start(EventLoop& loop, Listener listener,
                                                  const Credentials& mine, OnPeer on_peer,
                                                  Clock::duration handshake_limit) {
  auto state =
      std::make_shared<State>(loop, std::move(listener), mine, std::move(on_peer), handshake_limit);
  Status opened = fail(Code::aborted, "The event loop has stopped.");
  loop.run([&] { opened = state->open(); });
  if (!opened) {
    return Unexpected(opened.error());
  }
  return std::unique_ptr<Acceptor>(new Acceptor(std::move(state)));
}

Acceptor::~Acceptor() {
  state_->loop.run([this] { state_->close(); });
}

const Address& Acceptor::address() const {
  return state_->listener.address;
}

// Acquire: pairs with the release in drop().
std::uint64_t Acceptor::strangers() const {
  return state_->strangers.load(std::memory_order_acquire);
}

namespace {

// A connect to a port of the local range that nobody listens on can meet itself.
bool connected_to_itself(int fd) {
  const Result<Address> mine = local_address(fd);
  const Result<Address> theirs = peer_address(fd);
  return mine && theirs && *mine == *theirs;
}

Result<UniqueFd> dial_once(const Address& address, const Credentials& mine,
                           std::uint32_t expected_rank, Deadline deadline) {
  Result<UniqueFd> fd = connect_to(address, deadline);
  if (!fd) {
    return fd;
  }
  if (connected_to_itself(fd->get())) {
    return fail(Code::system_error, fmt::format("Nobody listens at {}.", address.to_string()));
  }
  const Result<PeerIdentity> peer =
      shake_hands(fd->get(), Handshake::Role::initiator, mine, deadline);
  if (!peer) {
    return Unexpected(peer.error());
  }
  if (peer->library_version != mine.library_version) {
    return Unexpected(version_mismatch(mine.library_version, peer->library_version,
                                       expected_rank == root_rank
                                           ? "the root of this communicator"
                                           : fmt::format("rank {}", expected_rank)));
  }
  if (peer->rank != expected_rank) {
    return fail(Code::invalid_usage,
                fmt::format("Rank {} answered where rank {} was expected. Does this address belong "
                            "to several hosts?",
                            peer->rank, expected_rank));
  }
  return fd;
}

// What may pass by itself: nobody listens yet, a full backlog, a listener that is about to go.
bool worth_retrying(const Error& error) {
  return error.code == Code::system_error || error.code == Code::remote_error;
}

}  // namespace

Result<UniqueFd> dial(const Address& address, const Credentials& mine, std::uint32_t expected_rank,
                      Deadline deadline) {
  Clock::duration pause = first_retry;
  while (true) {
    Result<UniqueFd> fd = dial_once(address, mine, expected_rank, deadline);
    if (fd) {
      return fd;
    }
    const bool late = Clock::now() + pause >= deadline;
    if (late || !worth_retrying(fd.error())) {
      return fail(late ? Code::timeout : fd.error().code,
                  fmt::format("Connecting to {} failed: {}", address.to_string(),
                              as_sentence(fd.error().message)));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<Clock::duration>(2 * pause, longest_retry);
  }
}

}  // namespace gyre::net

// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/fd_server.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/core.h>

#include "base/log.h"
#include "net/acceptor.h"
#include "net/socket.h"

namespace gyre::shm {
namespace {

// A peer that proved itself sends its 16 bytes at once; who does not is stopped or broken.
constexpr auto request_limit = std::chrono::seconds(30);

Result<std::string> random_address() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return system_failure("getrandom");
  }
  std::string address = "gyre-";
  for (const unsigned char byte : bytes) {
    address += fmt::format("{:02x}", byte);
  }
  return address;
}

// 16 bytes always fit into the empty buffer of a socket that nothing was sent on; what cannot be
// sent at once is given up.
bool send_reply(int socket, const Reply& reply, int fd) {
  net::Bytes bytes = encode_reply(reply);
  iovec data{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

using RankKey = std::pair<std::uint64_t, int>;  // epoch, rank

// A peer that proved itself, until it has its reply. Loop thread only.
struct Conversation {
  UniqueFd fd;
  RankKey owner;
  net::Bytes request;
  net::EventLoop::WatchId watch = net::EventLoop::WatchId::none;
  net::EventLoop::TimerId limit = net::EventLoop::TimerId::none;
};

enum class Progress : std::uint8_t { waiting, complete, broken };

Progress read_request(Conversation& conversation) {
  std::array<std::byte, request_bytes> piece{};
  while (conversation.request.size() < request_bytes) {
    const std::size_t wanted = request_bytes - conversation.request.size();
    const ssize_t count = ::recv(conversation.fd.get(), piece.data(), wanted, MSG_DONTWAIT);
    if (count > 0) {
      conversation.request.insert(conversation.request.end(), piece.begin(), piece.begin() + count);
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      return count < 0 && errno == EAGAIN ? Progress::waiting : Progress::broken;
    }
  }
  return Progress::complete;
}

}  // namespace

struct FdServer::State : std::enable_shared_from_this<FdServer::State> {
  using SegmentPointer = std::shared_ptr<const SharedSegment>;

  struct Endpoint {
    std::unique_ptr<net::Acceptor> acceptor;
    std::map<std::uint64_t, SegmentPointer> segments;
  };

  State(net::EventLoop& loop_in, const RegionTable& regions_in, std::string address_in)
      : loop(loop_in), regions(regions_in), address(std::move(address_in)) {}

  void begin(RankKey owner, UniqueFd fd);
  void on_readable(std::uint64_t id);
  void end(std::uint64_t id);
  [[nodiscard]] bool answer(const Conversation& conversation, const ObjectName& name);
  [[nodiscard]] SegmentPointer find_segment(RankKey owner, std::uint64_t id) const;
  [[nodiscard]] bool joined(RankKey owner) const;

  net::EventLoop& loop;
  const RegionTable& regions;
  const std::string address;

  mutable std::mutex mutex;
  std::map<RankKey, Endpoint> endpoints;  // guarded by mutex
  std::uint64_t strangers_before = 0;     // of endpoints that left; guarded by mutex

  std::uint64_t next_conversation = 0;                  // loop thread only
  std::map<std::uint64_t, Conversation> conversations;  // loop thread only

  // Only counted, never used to order anything: relaxed.
  std::atomic<std::uint64_t> served{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> dropped{0};
};

void FdServer::State::begin(RankKey owner, UniqueFd fd) {
  const std::uint64_t id = next_conversation++;
  const auto watch = loop.watch(fd.get(), EPOLLIN, [weak = weak_from_this(), id](std::uint32_t) {
    if (const auto self = weak.lock()) {
      self->on_readable(id);
    }
  });
  if (!watch) {
    return;  // the loop is stopping
  }
  const auto limit = loop.call_at(net::after(request_limit), [weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) {
      self->dropped.fetch_add(1, std::memory_order_relaxed);
      self->end(id);
    }
  });
  conversations.emplace(id, Conversation{std::move(fd), owner, {}, *watch, limit});
}

void FdServer::State::on_readable(std::uint64_t id) {
  const auto found = conversations.find(id);
  if (found == conversations.end()) {
    return;
  }
  const Progress progress = read_request(found->second);
  if (progress == Progress::waiting) {
    return;
  }
  const auto name = progress == Progress::complete ? decode_request(found->second.request)
                                                   : std::optional<ObjectName>{};
  if (!name || !answer(found->second, *name)) {
    dropped.fetch_add(1, std::memory_order_relaxed);
  }
  end(id);
}

void FdServer::State::end(std::uint64_t id) {
  const auto found = conversations.find(id);
  if (found != conversations.end()) {
    loop.unwatch(found->second.watch);
    loop.cancel(found->second.limit);
    conversations.erase(found);
  }
}

bool FdServer::State::answer(const Conversation& conversation, const ObjectName& name) {
  Reply reply;
  SegmentPointer segment;  // keeps the descriptor open until it is sent
  Result<RegionTable::Exported> region = RegionTable::Exported{};
  int fd = -1;
  if (name.kind == ObjectKind::segment) {
    segment = find_segment(conversation.owner, name.id);
    reply = segment ? Reply{Answer::granted, segment->bytes()} : Reply{};
    fd = segment ? segment->fd() : -1;
  } else if (joined(conversation.owner)) {
    region = regions.export_region(name.id);
    reply = region ? Reply{Answer::granted, region->bytes}
                   : Reply{region.error().code == Code::invalid_argument ? Answer::unknown
                                                                         : Answer::failed,
                           0};
    fd = region ? region->fd.get() : -1;
  }
  // Counted before the peer can know, so that a test that was served sees the count.
  (fd >= 0 ? served : refused).fetch_add(1, std::memory_order_relaxed);
  return send_reply(conversation.fd.get(), reply, fd);
}

FdServer::State::SegmentPointer FdServer::State::find_segment(RankKey owner,
                                                              std::uint64_t id) const {
  const std::scoped_lock lock(mutex);
  const auto endpoint = endpoints.find(owner);
  if (endpoint == endpoints.end()) {
    return nullptr;
  }
  const auto found = endpoint->second.segments.find(id);
  return found == endpoint->second.segments.end() ? nullptr : found->second;
}

bool FdServer::State::joined(RankKey owner) const {
  const std::scoped_lock lock(mutex);
  return endpoints.contains(owner);
}

Result<std::unique_ptr<FdServer>> FdServer::start(net::EventLoop& loop,
                                                  const RegionTable& regions) {
  Result<std::string> address = random_address();
  GYRE_TRY(address);
  auto state = std::make_shared<State>(loop, regions, std::move(*address));
  return std::unique_ptr<FdServer>(new FdServer(loop, std::move(state)));
}

FdServer::FdServer(net::EventLoop& loop, std::shared_ptr<State> state)
    : loop_(loop), state_(std::move(state)) {}

FdServer::~FdServer() {
  std::map<RankKey, State::Endpoint> endpoints;
  {
    const std::scoped_lock lock(state_->mutex);
    endpoints.swap(state_->endpoints);
  }
  // Not under the lock: an acceptor waits for its callback, which may be waiting for the lock.
  endpoints.clear();
  loop_.run([this] {
    while (!state_->conversations.empty()) {
      state_->end(state_->conversations.begin()->first);
    }
  });
}

const std::string& FdServer::address() const {
  return state_->address;
}

Status FdServer::join(const net::Credentials& mine) {
  const RankKey key{mine.epoch, static_cast<int>(mine.rank)};
  const Result<net::Address> name =
      net::Address::abstract_unix(socket_name(state_->address, key.first, key.second));
  GYRE_TRY(name);
  Result<net::Listener> listener = net::listen_on(*name);
  GYRE_TRY(listener);
  net::Credentials credentials = mine;
  credentials.purpose = net::Purpose::transport;
  auto on_peer = [weak = std::weak_ptr(state_), key](UniqueFd fd, const net::PeerIdentity&,
                                                     const net::Address&) {
    if (const auto state = weak.lock()) {
      state->begin(key, std::move(fd));
    }
  };
  Result<std::unique_ptr<net::Acceptor>> acceptor =
      net::Acceptor::start(loop_, std::move(*listener), credentials, std::move(on_peer));
  GYRE_TRY(acceptor);
  const std::scoped_lock lock(state_->mutex);
  // The socket's name is taken as long as the rank is joined: this insertion finds no other.
  state_->endpoints[key].acceptor = std::move(*acceptor);
  return {};
}

void FdServer::leave(std::uint64_t epoch, int rank) {
  State::Endpoint leaving;
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->endpoints.find({epoch, rank});
  if (found == state_->endpoints.end()) {
    return;
  }
  state_->strangers_before += found->second.acceptor->strangers();
  leaving = std::move(found->second);
  state_->endpoints.erase(found);
  // `leaving` dies after the lock is released, as it was declared before it.
}

Status FdServer::offer(std::uint64_t epoch, int rank, std::uint64_t id,
                       std::shared_ptr<const SharedSegment> segment) {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->endpoints.find({epoch, rank});
  if (found == state_->endpoints.end() || found->second.segments.contains(id)) {
    return fail(Code::internal_error,
                fmt::format("Rank {} cannot offer segment {}: it {}.", rank, id,
                            found == state_->endpoints.end() ? "has not joined the server"
                                                             : "offers it already"));
  }
  found->second.segments.emplace(id, std::move(segment));
  return {};
}

void FdServer::withdraw(std::uint64_t epoch, int rank, std::uint64_t id) {
  State::SegmentPointer last;  // unmapped after the lock is released
  const std::scoped_lock lock(state_->mutex);
  if (const auto found = state_->endpoints.find({epoch, rank}); found != state_->endpoints.end()) {
    if (auto node = found->second.segments.extract(id)) {
      last = std::move(node.mapped());
    }
  }
}

std::optional<PeerMapping> FdServer::find_local(std::uint64_t epoch, int owner,
                                                ObjectName name) const {
  if (name.kind == ObjectKind::segment) {
    if (const auto segment = state_->find_segment({epoch, owner}, name.id)) {
      return PeerMapping::local(segment, segment->data(), segment->bytes());
    }
  } else if (state_->joined({epoch, owner})) {
    if (const auto region = state_->regions.get(name.id)) {
      return PeerMapping::local(nullptr, region->address, region->bytes);
    }
  }
  return std::nullopt;
}

FdServer::Statistics FdServer::statistics() const {
  Statistics sums;
  sums.served = state_->served.load(std::memory_order_relaxed);
  sums.refused = state_->refused.load(std::memory_order_relaxed);
  sums.dropped = state_->dropped.load(std::memory_order_relaxed);
  const std::scoped_lock lock(state_->mutex);
  sums.dropped += state_->strangers_before;
  for (const auto& [key, endpoint] : state_->endpoints) {
    sums.dropped += endpoint.acceptor->strangers();
  }
  return sums;
}

}  // namespace gyre::shm

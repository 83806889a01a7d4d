// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/id_exchange.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/log.h"
#include "net/connection.h"
#include "net/socket.h"
#include "net/text.h"

namespace gyre::bootstrap {
namespace {

constexpr net::FrameType request = 32;  // u32 rank
constexpr net::FrameType answer = 33;   // the id
constexpr auto first_retry = std::chrono::milliseconds(5);
constexpr auto longest_retry = std::chrono::milliseconds(200);
constexpr auto answer_linger = std::chrono::seconds(5);

Status judge_peer(int fd) {
  const Result<net::PeerProcess> peer = net::peer_process(fd);
  if (!peer) {
    return Unexpected(peer.error());
  }
  if (peer->uid != ::geteuid()) {
    return fail(Code::invalid_usage,
                fmt::format("pid {} at the other end runs as user {}, this process as user {}",
                            peer->pid, peer->uid, ::geteuid()));
  }
  return {};
}

// Keeps itself alive through what it has put on the loop. Loop thread only.
class Server : public std::enable_shared_from_this<Server> {
 public:
  Server(net::EventLoop& loop, net::Listener listener, const UniqueId& id, int size)
      : loop_(loop), listener_(std::move(listener)), id_(id), waiting_for_(size - 1) {}

  Status open(net::Deadline deadline) {
    const auto self = shared_from_this();
    const auto watched =
        loop_.watch(listener_.fd.get(), EPOLLIN, [self](std::uint32_t) { self->accept(); });
    if (!watched) {
      return Unexpected(watched.error());
    }
    watch_ = *watched;
    timer_ = loop_.call_at(deadline, [self] { self->close(); });
    return {};
  }

 private:
  void accept() {
    const auto self = shared_from_this();
    auto accepted = net::accept_one(listener_.fd.get(), nullptr);
    if (!accepted || !*accepted) {
      return;
    }
    if (const Status judged = judge_peer((*accepted)->get()); !judged) {
      log::info(log::Subsystem::bootstrap, "refused a stranger at {}: {}",
                listener_.address.to_string(), judged.error().message);
      return;
    }
    const std::uint64_t number = next_++;
    net::Connection::Callbacks callbacks;
    callbacks.on_frame = [self, number](const net::Frame& frame) {
      self->on_request(number, frame.payload);
    };
    callbacks.on_closed = [self, number](const std::string&) { self->connections_.erase(number); };
    connections_[number] =
        net::Connection::start(loop_, std::move(**accepted), {{request, 4}}, std::move(callbacks));
  }

  void on_request(std::uint64_t number, net::ByteView payload) {
    const auto self = shared_from_this();
    net::ByteReader reader(payload);
    const std::uint32_t rank = reader.u32();
    const auto connection = std::move(connections_[number]);
    connections_.erase(number);
    if (!reader.complete()) {
      connection->close();
      return;
    }
    connection->send(answer, id_.encode());
    connection->close_when_sent(answer_linger);
    served_.insert(rank);
    if (static_cast<int>(served_.size()) >= waiting_for_) {
      close();
    }
  }

  void close() {
    loop_.unwatch(watch_);
    loop_.cancel(timer_);
    listener_.fd.reset();
    for (const auto& [number, connection] : connections_) {
      connection->close();
    }
    connections_.clear();
  }

  net::EventLoop& loop_;
  net::Listener listener_;
  const UniqueId id_;
  const int waiting_for_;
  net::EventLoop::WatchId watch_ = net::EventLoop::WatchId::none;
  net::EventLoop::TimerId timer_ = net::EventLoop::TimerId::none;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, std::shared_ptr<net::Connection>> connections_;
  std::set<std::uint32_t> served_;
};

Result<UniqueId> fetch_from(int fd, int rank, net::Deadline deadline) {
  net::ByteWriter writer;
  writer.u32(static_cast<std::uint32_t>(rank));
  GYRE_TRY(net::write_all(fd, net::encode_frame(request, writer.view()), deadline));
  net::Bytes bytes(net::frame_header_bytes + UniqueId::encoded_bytes);
  GYRE_TRY(net::read_exactly(fd, bytes, deadline));
  net::FrameParser parser({{answer, UniqueId::encoded_bytes}});
  GYRE_TRY(parser.feed(bytes));
  const auto frame = parser.next();
  if (!frame) {
    return fail(Code::internal_error, "The answer holds no id.");
  }
  return UniqueId::decode(frame->payload);
}

}  // namespace

Status serve_id(net::EventLoop& loop, const net::Address& name, const UniqueId& id, int size,
                net::Deadline deadline) {
  Result<net::Listener> listener = net::listen_on(name);
  if (!listener) {
    return fail(listener.error().code,
                fmt::format("Rank 0 cannot hand out the unique id: {} Does another job on this "
                            "host use the same MASTER_ADDR and MASTER_PORT?",
                            net::as_sentence(listener.error().message)));
  }
  const auto server = std::make_shared<Server>(loop, std::move(*listener), id, size);
  Status opened = fail(Code::aborted, "The event loop has stopped.");
  loop.run([&] { opened = server->open(deadline); });
  return opened;
}

Result<UniqueId> fetch_id(const net::Address& name, int rank, net::Deadline deadline) {
  std::chrono::milliseconds pause = first_retry;
  while (true) {
    Result<UniqueFd> fd = net::connect_to(name, deadline);
    if (fd) {
      if (const Status judged = judge_peer(fd->get()); !judged) {
        return fail(Code::invalid_usage,
                    fmt::format("Rank {} was to fetch the unique id at {}, but {}.", rank,
                                name.to_string(), judged.error().message));
      }
      Result<UniqueId> id = fetch_from(fd->get(), rank, deadline);
      if (id || id.error().code != Code::remote_error) {
        return id;
      }
    }
    if (net::Clock::now() + pause >= deadline) {
      return fail(
          Code::timeout,
          fmt::format("Rank {} could not fetch the unique id from rank 0 at {} in time. Did "
                      "rank 0 start, on this host, with the same MASTER_ADDR, MASTER_PORT, "
                      "TORCHELASTIC_RUN_ID and TORCHELASTIC_RESTART_COUNT?",
                      rank, name.to_string()));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest_retry);
  }
}

}  // namespace gyre::bootstrap

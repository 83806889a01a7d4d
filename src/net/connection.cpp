// SPDX-License-Identifier: Apache-2.0
#include "net/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "net/socket.h"

namespace gyre::net {
namespace {

constexpr std::size_t read_bytes = 64 * 1024;
// Reads of one connection before the loop serves the others.
constexpr int reads_in_turn = 16;

std::string read_failure(int error_number) {
  if (error_number == ECONNRESET) {
    return "its connection was reset";
  }
  if (error_number == ETIMEDOUT) {
    return "its host no longer answers (host down, or network cut?)";
  }
  return fmt::format("its connection failed: {}", std::generic_category().message(error_number));
}

}  // namespace

Connection::Connection(EventLoop& loop, UniqueFd fd, FrameLimits limits, Callbacks callbacks)
    : loop_(loop),
      fd_(std::move(fd)),
      parser_(std::move(limits)),
      callbacks_(std::move(callbacks)) {}

std::shared_ptr<Connection> Connection::start(EventLoop& loop, UniqueFd fd, FrameLimits limits,
                                              Callbacks callbacks) {
  std::shared_ptr<Connection> connection(
      new Connection(loop, std::move(fd), std::move(limits), std::move(callbacks)));
  loop.post([connection] { connection->open_on_loop(); });
  return connection;
}

void Connection::send(FrameType type, ByteView payload) {
  Bytes frame = encode_frame(type, payload);
  if (loop_.in_loop_thread()) {
    send_on_loop(std::move(frame));
    return;
  }
  loop_.post([self = shared_from_this(), frame = std::move(frame)]() mutable {
    self->send_on_loop(std::move(frame));
  });
}

void Connection::close() {
  if (loop_.in_loop_thread()) {
    close_on_loop();
  } else {
    loop_.post([self = shared_from_this()] { self->close_on_loop(); });
  }
}

void Connection::close_when_sent(Clock::duration linger) {
  if (loop_.in_loop_thread()) {
    close_soon(linger);
  } else {
    loop_.post([self = shared_from_this(), linger] { self->close_soon(linger); });
  }
}

void Connection::open_on_loop() {
  if (!fd_.valid()) {
    return;  // closed before it began
  }
  interest_ = EPOLLIN | (output_.empty() ? 0u : static_cast<unsigned>(EPOLLOUT));
  const auto watched =
      loop_.watch(fd_.get(), interest_, [self = shared_from_this()](std::uint32_t events) {
        if ((events & EPOLLOUT) != 0) {
          self->flush();
        }
        if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
          self->receive();
        }
      });
  if (!watched) {
    end(watched.error().message);
    return;
  }
  watch_ = *watched;
}

void Connection::send_on_loop(Bytes frame) {
  if (!fd_.valid() || closing_) {
    return;
  }
  output_.push_back(std::move(frame));
  if (output_.size() == 1) {
    flush();
  }
}

void Connection::close_on_loop() {
  loop_.unwatch(watch_);
  loop_.cancel(linger_);
  watch_ = EventLoop::WatchId::none;
  linger_ = EventLoop::TimerId::none;
  fd_.reset();
  output_.clear();
  callbacks_ = {};
}

void Connection::close_soon(Clock::duration linger) {
  if (!fd_.valid()) {
    return;
  }
  callbacks_ = {};
  closing_ = true;
  linger_ = loop_.call_at(after(linger), [self = shared_from_this()] { self->close_on_loop(); });
  if (output_.empty()) {
    say_end();
  }
}

// Ends our direction only, and reads on until the peer ends its own: closing a socket that holds
// unread bytes resets the connection, and what we sent last might be lost.
void Connection::say_end() {
  ::shutdown(fd_.get(), SHUT_WR);
}

void Connection::end(const std::string& why) {
  const auto on_closed = std::move(callbacks_.on_closed);
  close_on_loop();
  if (on_closed) {
    on_closed(why);
  }
}

void Connection::receive() {
  const auto self = shared_from_this();  // a callback may drop the last other owner
  std::array<std::byte, read_bytes> buffer;
  for (int i = 0; i < reads_in_turn && fd_.valid(); ++i) {
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
      return;  // level triggered: we are called again if there is more
    }
    if (got <= 0) {
      end(got == 0 ? "its connection closed" : read_failure(errno));
      return;
    }
    if (closing_) {
      continue;  // only its end is awaited
    }
    const Status fed = parser_.feed(std::span(buffer).first(static_cast<std::size_t>(got)));
    deliver();
    if (!fed && fd_.valid()) {
      end(fed.error().message);
      return;
    }
  }
}

void Connection::deliver() {
  while (auto frame = parser_.next()) {
    const auto on_frame = callbacks_.on_frame;  // a copy: the callback may close us
    if (on_frame) {
      on_frame(std::move(*frame));
    }
  }
}

void Connection::flush() {
  while (!output_.empty()) {
    const Bytes& first = output_.front();
    const ssize_t sent = ::send(fd_.get(), first.data() + sent_of_first_,
                                first.size() - sent_of_first_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0 && errno == EAGAIN) {
      break;
    }
    if (sent < 0) {
      // The peer is gone; the end comes from the reading side, after what it sent before.
      output_.clear();
      sent_of_first_ = 0;
      break;
    }
    sent_of_first_ += static_cast<std::size_t>(sent);
    if (sent_of_first_ == first.size()) {
      output_.pop_front();
      sent_of_first_ = 0;
    }
  }
  if (output_.empty() && closing_) {
    say_end();
  }
  update_interest();
}

void Connection::update_interest() {
  const std::uint32_t wanted = EPOLLIN | (output_.empty() ? 0u : static_cast<unsigned>(EPOLLOUT));
  if (watch_ != EventLoop::WatchId::none && wanted != interest_) {
    interest_ = wanted;
    static_cast<void>(loop_.modify(watch_, wanted));
  }
}

}  // namespace gyre::net

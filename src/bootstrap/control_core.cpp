// SPDX-License-Identifier: Apache-2.0
// The links of a control channel: who is there, who left, who died, and the flooding of news.
#include "bootstrap/control_core.h"

#include <fmt/format.h>

#include "base/log.h"

namespace gyre::bootstrap {
namespace {

// How long a last message (farewell, failure) may take to drain on a closed channel.
constexpr auto farewell_linger = std::chrono::seconds(5);

net::FrameType type(Message message) {
  return static_cast<net::FrameType>(message);
}

}  // namespace

ControlChannel::Core::Core(net::EventLoop& loop, ControlOptions options)
    : loop_(loop), options_(std::move(options)) {}

void ControlChannel::Core::attach(int peer, UniqueFd fd) {
  static_cast<void>(net::watch_for_silent_loss(fd.get()));  // a lesser watch is no error
  net::Connection::Callbacks callbacks;
  const auto weak = weak_from_this();
  callbacks.on_frame = [weak, peer](net::Frame frame) {
    if (const auto self = weak.lock()) {
      self->on_frame(peer, std::move(frame));
    }
  };
  callbacks.on_closed = [weak, peer](const std::string& why) {
    if (const auto self = weak.lock()) {
      self->on_closed(peer, why);
    }
  };
  net::ByteWriter introduction;
  Person::self().encode(introduction);
  const std::lock_guard lock(mutex_);
  auto connection =
      net::Connection::start(loop_, std::move(fd), limits_on_links(), std::move(callbacks));
  connection->send(type(Message::introduction), introduction.view());
  if (failure_) {  // a link that comes too late for the flood
    connection->send(type(Message::failure),
                     FailureNews{failure_->culprit, failure_->error()}.encode());
  }
  links_.emplace(peer, Link{std::move(connection), fmt::format("rank {}", peer), false});
  changed_.notify_all();
}

// Connections of a closed channel call back no more; so the link of a callback exists.
void ControlChannel::Core::on_frame(int peer, net::Frame frame) {
  switch (static_cast<Message>(frame.type)) {
    case Message::introduction:
      return on_introduction(peer, frame.payload);
    case Message::gather:
      return on_step(peer, frame.payload);
    case Message::failure:
      return on_news(frame.payload);
    case Message::goodbye: {
      const std::lock_guard lock(mutex_);
      links_.at(peer).left = true;
      changed_.notify_all();
      return;
    }
    default:
      return;  // the limits of the link let no other type through
  }
}

void ControlChannel::Core::on_introduction(int peer, ByteView payload) {
  net::ByteReader reader(payload);
  const Person person = Person::decode(reader);
  const std::lock_guard lock(mutex_);
  links_.at(peer).who = name_of(peer, person);
}

void ControlChannel::Core::on_step(int peer, ByteView payload) {
  auto step = GatherStep::decode(payload);
  if (!step) {
    record({peer, Code::internal_error, fmt::format("Rank {} sent an unreadable message.", peer)});
    return;
  }
  const std::lock_guard lock(mutex_);
  const StepKey key{peer, step->sequence, step->round};
  inbox_.emplace(key, std::move(*step));
  changed_.notify_all();
}

void ControlChannel::Core::on_news(ByteView payload) {
  if (const auto news = FailureNews::decode(payload)) {
    record({news->culprit, news->error.code, news->error.message});
  }
}

void ControlChannel::Core::on_closed(int peer, const std::string& why) {
  std::string who;
  {
    const std::lock_guard lock(mutex_);
    Link& link = links_.at(peer);
    if (link.left || failure_ || closed_) {
      changed_.notify_all();
      return;
    }
    who = link.who;
  }
  record({peer, Code::remote_error,
          fmt::format("{} died: {}. Its own output may say why (a crash, a kill, out of memory?).",
                      capitalised(who), why)});
}

// News goes out before anybody here hears of it: a caller that hears it may end the process.
void ControlChannel::Core::record(Failure failure) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_ || closed_) {
      return;
    }
    const Bytes news = FailureNews{failure.culprit, failure.error()}.encode();
    for (const auto& [peer, link] : links_) {
      link.connection->send(type(Message::failure), news);
    }
    failure_ = std::move(failure);
  }
  if (loop_.in_loop_thread()) {
    deliver_failure();
  } else {
    loop_.post([self = shared_from_this()] { self->deliver_failure(); });
  }
  changed_.notify_all();
}

void ControlChannel::Core::deliver_failure() {
  std::function<void(const Failure&)> callback;
  std::optional<Failure> failure;
  {
    const std::lock_guard lock(mutex_);
    if (delivered_ || closed_) {
      return;
    }
    delivered_ = true;
    callback = options_.on_failure;
    failure = failure_;
  }
  log::info(log::Subsystem::bootstrap, "control channel of rank {} failed: {}", rank(),
            failure->text);
  if (callback) {
    callback(*failure);
  }
}

std::optional<Failure> ControlChannel::Core::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void ControlChannel::Core::goodbye() {
  const std::lock_guard lock(mutex_);
  if (leaving_ || failure_ || closed_) {
    return;
  }
  leaving_ = true;
  for (const auto& [peer, link] : links_) {
    link.connection->send(type(Message::goodbye), {});
  }
}

void ControlChannel::Core::close() {
  // The loop thread does it between two callbacks; so none runs when this returns.
  loop_.run([this] { close_links(); });
}

void ControlChannel::Core::close_links() {
  acceptor_.reset();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [peer, link] : links_) {
    if (leaving_ || failure_) {
      link.connection->close_when_sent(farewell_linger);
    } else {
      link.connection->close();
    }
  }
  links_.clear();
  inbox_.clear();
  options_.on_failure = nullptr;
}

std::size_t ControlChannel::Core::links() const {
  const std::lock_guard lock(mutex_);
  return links_.size();
}

}  // namespace gyre::bootstrap

// SPDX-License-Identifier: Apache-2.0
// An authenticated socket that carries frames, served by the loop. Lives as long as the loop
// watches it; callbacks run on the loop thread and end with on_closed or a local close().
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "net/event_loop.h"
#include "net/frame.h"

namespace gyre::net {

//
// Writing to a peer that has closed does not end the connection at once: what the peer had sent
// before (a farewell, say) is read first.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Callbacks {
    std::function<void(Frame)> on_frame;
    // The peer closed, the network failed or a frame was malformed; `why` is half a sentence. All
    // frames that arrived before have been delivered. Not called after a local close.
    std::function<void(const std::string& why)> on_closed;
  };

  // From any thread. When the loop has stopped nothing happens.
  static std::shared_ptr<Connection> start(EventLoop& loop, UniqueFd fd, FrameLimits limits,
                                           Callbacks callbacks);

  // Queues a frame; never waits. From any thread; frames of one thread keep their order. On the
  // loop thread the frame is handed to the kernel before send returns, if the kernel takes it.
  void send(FrameType type, ByteView payload);
  // Closes now; what was not sent is lost. From any thread.
  void close();
  // No more callbacks. Closes once all queued frames went out and the peer has closed too, or
  // `linger` passed. From any thread.
  void close_when_sent(Clock::duration linger);

 private:
  Connection(EventLoop& loop, UniqueFd fd, FrameLimits limits, Callbacks callbacks);
  void open_on_loop();
  void send_on_loop(Bytes frame);
  void close_on_loop();
  void end(const std::string& why);
  void receive();
  void close_soon(Clock::duration linger);
  void say_end();
  void deliver();
  void flush();
  void update_interest();

  EventLoop& loop_;
  UniqueFd fd_;  // this and all below: loop thread only
  FrameParser parser_;
  Callbacks callbacks_;
  EventLoop::WatchId watch_ = EventLoop::WatchId::none;
  EventLoop::TimerId linger_ = EventLoop::TimerId::none;
  std::deque<Bytes> output_;
  std::size_t sent_of_first_ = 0;
  std::uint32_t interest_ = 0;
  bool closing_ = false;
};

}  // namespace gyre::net

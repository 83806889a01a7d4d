// SPDX-License-Identifier: Apache-2.0
// What port scanners, health checks and stale jobs do to a listening socket.
#pragma once

#include <sys/socket.h>

#include <random>
#include <vector>

#include "net/handshake.h"
#include "net/socket.h"

namespace gyre::net::testing {

class Stranger {
 public:
  static constexpr int kinds = 6;

  // Does the next of its tricks; a silent one stays connected until the stranger is destroyed.
  void disturb(const Address& address, int kind) {
    Result<UniqueFd> fd = connect_to(address, after(std::chrono::seconds(1)));
    if (!fd) {
      return;
    }
    switch (kind % kinds) {
      case 0: {  // connect and reset
        const linger reset{1, 0};
        ::setsockopt(fd->get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        break;
      }
      case 1:  // connect and close
        break;
      case 2:  // a few bytes, then close
        send(*fd, Bytes(1 + random_() % 7, std::byte{'G'}));
        break;
      case 3:  // wrong bytes
        send(*fd, Bytes(64, std::byte{'x'}));
        break;
      case 4:  // silent for ever
        silent_.push_back(std::move(*fd));
        break;
      default: {  // the right first bytes, without the secret
        Credentials guess;
        guess.epoch = random_();
        Handshake handshake(Handshake::Role::initiator, guess);
        send(*fd, handshake.take_output());
        break;
      }
    }
  }

 private:
  static void send(const UniqueFd& fd, const Bytes& bytes) {
    static_cast<void>(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  std::mt19937_64 random_{3};
  std::vector<UniqueFd> silent_;
};

}  // namespace gyre::net::testing

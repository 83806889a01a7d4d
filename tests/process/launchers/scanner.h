// SPDX-License-Identifier: Apache-2.0
// A stranger who finds every port and abstract socket that a job listens at, and pesters it: closes
// at once, resets, sends a few bytes, sends rubbish, or connects and stays silent.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace gyre::test {

class Scanner {
 public:
  explicit Scanner(std::vector<pid_t> pids) : pids_(std::move(pids)), thread_([this] { scan(); }) {}
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;
  ~Scanner() { stop(); }

  void stop() {
    // relaxed: it only says "stop"; join orders the rest.
    stopped_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) {
      thread_.join();
    }
    while (!silent_.empty()) {
      drop_oldest();
    }
  }
  // After stop().
  [[nodiscard]] int visits() const { return visits_; }

 private:
  static constexpr std::size_t most_silent = 40;

  void scan() {
    while (!stopped_.load(std::memory_order_relaxed)) {
      const std::set<std::string> sockets = sockets_of_job();
      visit_tcp(sockets);
      visit_abstract(sockets);
    }
  }

  // Inodes, as text.
  [[nodiscard]] std::set<std::string> sockets_of_job() const {
    std::set<std::string> inodes;
    for (const pid_t pid : pids_) {
      std::error_code ignored;
      const std::filesystem::path directory = "/proc/" + std::to_string(pid) + "/fd";
      for (auto entry = std::filesystem::directory_iterator(directory, ignored);
           entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
        const std::string target = std::filesystem::read_symlink(entry->path(), ignored);
        if (target.starts_with("socket:[")) {
          inodes.insert(target.substr(8, target.size() - 9));
        }
      }
    }
    return inodes;
  }

  // Lines of /proc/net/tcp: sl, local address, remote address, state, 5 columns, inode.
  void visit_tcp(const std::set<std::string>& sockets) {
    std::ifstream file("/proc/net/tcp");
    for (std::string line; std::getline(file, line);) {
      std::istringstream columns(line);
      std::array<std::string, 10> column;
      for (std::string& text : column) {
        columns >> text;
      }
      if (column[3] != "0A" || !sockets.contains(column[9])) {  // 0A: listening
        continue;
      }
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = static_cast<in_addr_t>(std::stoul(column[1], nullptr, 16));
      address.sin_port =
          htons(static_cast<std::uint16_t>(std::stoul(column[1].substr(9), nullptr, 16)));
      visit(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    }
  }

  // Lines of /proc/net/unix: num, refcount, protocol, flags, type, state, inode, path.
  void visit_abstract(const std::set<std::string>& sockets) {
    std::ifstream file("/proc/net/unix");
    for (std::string line; std::getline(file, line);) {
      std::istringstream columns(line);
      std::array<std::string, 8> column;
      for (std::string& text : column) {
        columns >> text;
      }
      const std::string& name = column[7];
      sockaddr_un address{};
      if (column[3] != "00010000" || !name.starts_with("@") || !sockets.contains(column[6]) ||
          name.size() >= sizeof(address.sun_path)) {
        continue;
      }
      address.sun_family = AF_UNIX;
      std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);
      visit(AF_UNIX, reinterpret_cast<const sockaddr*>(&address),
            static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size()));
    }
  }

  void visit(int family, const sockaddr* address, socklen_t length) {
    const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    static_cast<void>(::connect(fd, address, length));
    const int kind = visits_++ % 5;
    const std::array<char, 64> rubbish{'r', 'u', 'b', 'b', 'i', 's', 'h'};
    if (kind == 1) {
      const linger reset{.l_onoff = 1, .l_linger = 0};
      static_cast<void>(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)));
    } else if (kind == 2) {
      static_cast<void>(
          ::send(fd, rubbish.data(), 1 + static_cast<std::size_t>(visits_) % 7, MSG_NOSIGNAL));
    } else if (kind >= 3) {
      if (kind == 3) {
        static_cast<void>(::send(fd, rubbish.data(), rubbish.size(), MSG_NOSIGNAL));
      }
      silent_.push_back(fd);  // and stays
      if (silent_.size() > most_silent) {
        drop_oldest();
      }
      return;
    }
    ::close(fd);
  }

  void drop_oldest() {
    ::close(silent_.front());
    silent_.pop_front();
  }

  std::vector<pid_t> pids_;
  std::atomic<bool> stopped_{false};
  std::deque<int> silent_;
  int visits_ = 0;
  std::thread thread_;  // last: it uses all above
};

}  // namespace gyre::test

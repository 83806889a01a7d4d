// SPDX-License-Identifier: Apache-2.0
// What a test compares before and after: open descriptors and mappings of this process; and a
// child process whose checks count.
#pragma once

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <string>

// g++ defines the names, clang++ answers the questions.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define GYRE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define GYRE_TEST_SANITIZED 1
#endif
#endif
#ifndef GYRE_TEST_SANITIZED
#define GYRE_TEST_SANITIZED 0
#endif

namespace gyre::test {

// A sanitizer's runtime maps shadow memory as it likes.
inline constexpr bool sanitized = GYRE_TEST_SANITIZED != 0;

inline std::size_t entries_of(const char* folder) {
  std::size_t count = 0;
  if (DIR* open = ::opendir(folder); open != nullptr) {
    while (::readdir(open) != nullptr) {
      ++count;
    }
    ::closedir(open);
  }
  return count;
}

inline std::size_t open_descriptors() {
  return entries_of("/proc/self/fd");
}

inline std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    ++count;
  }
  return count;
}

// Runs `body` in a child and returns how it ended: its exit status, or -signal. The child does not
// run destructors or exit handlers of the test program.
template <typename Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace gyre::test

// SPDX-License-Identifier: Apache-2.0
// What this process holds and uses, as the kernel counts it.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace gyre::test {

struct OwnResources {
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t mappings = 0;
  std::size_t resident_kib = 0;
};

[[nodiscard]] inline std::size_t entries_of(const char* directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) {
    ++count;
  }
  return count;
}

[[nodiscard]] inline std::size_t resident_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) {
      return std::stoull(line.substr(6));
    }
  }
  return 0;
}

[[nodiscard]] inline OwnResources own_resources() {
  OwnResources found{.descriptors = entries_of("/proc/self/fd"),
                     .threads = entries_of("/proc/self/task"),
                     .resident_kib = resident_kib()};
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    ++found.mappings;
  }
  return found;
}

[[nodiscard]] inline std::string text_of(const OwnResources& found) {
  return std::to_string(found.descriptors) + " descriptors, " + std::to_string(found.threads) +
         " threads, " + std::to_string(found.mappings) + " mappings, " +
         std::to_string(found.resident_kib) + " KiB resident";
}

// Of all threads, in user and kernel.
[[nodiscard]] inline std::chrono::microseconds own_cpu_time() {
  rusage usage{};
  static_cast<void>(::getrusage(RUSAGE_SELF, &usage));
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

}  // namespace gyre::test

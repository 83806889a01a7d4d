// SPDX-License-Identifier: Apache-2.0
// A fuzz target without a fuzzer: its seeds, cut short and with some bytes changed, in a fixed
// order. With `--seeds FOLDER` it writes the seeds there, for a real fuzzer to start from.
#include <cstdio>
#include <fstream>
#include <random>
#include <string>

#include "fuzz/target.h"

namespace {

void write_seeds(const std::string& folder) {
  int number = 0;
  for (const auto& seed : gyre::fuzz::seeds()) {
    std::ofstream file(folder + "/seed" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
  }
}

void replay() {
  std::mt19937 random(1);
  gyre::fuzz::consume({});
  for (const auto& seed : gyre::fuzz::seeds()) {
    gyre::fuzz::consume(seed);
    for (int round = 0; round < 2000; ++round) {
      gyre::net::Bytes bytes = seed;
      for (auto changes = random() % 4; changes > 0; --changes) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      }
      if (random() % 2 == 0) {
        bytes.resize(random() % bytes.size());
        bytes.shrink_to_fit();
      }
      gyre::fuzz::consume(bytes);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--seeds") {
    write_seeds(argv[2]);
  } else {
    replay();
  }
  return 0;
}

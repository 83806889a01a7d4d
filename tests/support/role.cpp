// SPDX-License-Identifier: Apache-2.0
// The side of a job that runs inside its ranks.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "support/job.h"
#include "support/launch_environment.h"

namespace gyre::test {
namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? -1 : std::atoi(text);
}

int play(const std::string& role, std::span<char*> arguments,
         const std::map<std::string, Role>& roles) {
  const auto found = roles.find(role);
  if (found == roles.end()) {
    std::cerr << "no role \"" << role << "\" in this test program\n";
    return EXIT_FAILURE;
  }
  return found->second(std::vector<std::string>(arguments.begin(), arguments.end()));
}

}  // namespace

int run(int argc, char** argv, const std::map<std::string, Role>& roles) {
  if (const char* role = std::getenv(role_variable)) {
    // The test program may be killed by its own time limit: no rank may outlive it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return play(role, std::span(argv, static_cast<std::size_t>(argc)).subspan(1), roles);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

int own_rank() {
  return number_in("RANK");
}

int world_size() {
  return number_in("WORLD_SIZE");
}

void say(std::string_view line) {
  std::cout << line << '\n' << std::flush;
}

std::string read_line() {
  std::string line;
  std::getline(std::cin, line);
  return line;
}

}  // namespace gyre::test

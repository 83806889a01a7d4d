// SPDX-License-Identifier: Apache-2.0
// However the ranks are started, they find each other: under mpirun, with torchrun's variables, by
// GYRE_COMM_ID; among strangers, with a full /dev/shm and a /tmp that cannot be written.
#include <gtest/gtest.h>
#include <gyre/gyre.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "process/launchers/scanner.h"
#include "support/checks.h"
#include "support/job.h"
#include "support/launch_environment.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

// Says who it is, and what the sum of all ranks is. Arguments: rounds of further communicators.
int play_member(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) {
    return checks.exit_code();
  }
  int rank = -1;
  int ranks = -1;
  checks.succeeded(gyreCommUserRank(comm.get(), &rank), "gyreCommUserRank");
  checks.succeeded(gyreCommCount(comm.get(), &ranks), "gyreCommCount");
  int sum = rank;
  checks.succeeded(gyreAllReduce(&sum, &sum, 1, gyreInt32, gyreSum, comm.get(), nullptr),
                   "gyreAllReduce");
  checks.that(sum == ranks * (ranks - 1) / 2, "the sum of ranks", std::to_string(sum));
  say("member " + std::to_string(rank) + " of " + std::to_string(ranks));
  const int rounds = arguments.empty() ? 0 : std::stoi(arguments[0]);
  for (int round = 0; round < rounds && checks.failures() == 0; ++round) {
    const gyreUniqueId id = share_new_id(checks, comm.get());
    gyreComm_t another = nullptr;
    checks.succeeded(gyreCommInitRank(&another, ranks, id, rank), "gyreCommInitRank");
    checks.succeeded(gyreCommDestroy(another), "gyreCommDestroy");
  }
  return checks.exit_code();
}

struct CommandOutcome {
  std::string output;
  int status = -1;
};

CommandOutcome run_command(const std::string& command) {
  CommandOutcome outcome;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    return outcome;
  }
  std::array<char, 4096> buffer{};
  for (std::size_t length = 0; (length = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.output.append(buffer.data(), length);
  }
  outcome.status = ::pclose(pipe);
  return outcome;
}

bool has_command(const std::string& name) {
  return run_command("command -v " + name).status == 0;
}

std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

void expect_members(Job& job, int ranks) {
  for (const RankOutcome& rank : job.wait()) {
    EXPECT_TRUE(rank.succeeded()) << rank;
    EXPECT_NE(
        rank.output.find("member " + std::to_string(rank.rank) + " of " + std::to_string(ranks)),
        std::string::npos)
        << rank;
  }
}

TEST(Launchers, MpirunOfOpenMpi) {
  if (!has_command("mpirun.openmpi")) {
    GTEST_SKIP() << "no mpirun.openmpi here (Debian: openmpi-bin)";
  }
  const CommandOutcome outcome =
      run_command("env " + std::string(role_variable) + "=member timeout -k 5 60 mpirun.openmpi " +
                  "--allow-run-as-root --oversubscribe --bind-to none -np 3 '" + own_path() + "'");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  for (const char* member : {"member 0 of 3", "member 1 of 3", "member 2 of 3"}) {
    EXPECT_NE(outcome.output.find(member), std::string::npos) << outcome.output;
  }
}

// A listener at a port of 127.0.0.1, as another program might hold.
class TakenPort {
 public:
  TakenPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    const bool listening = ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
                           ::listen(fd_, 1) == 0 &&
                           ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) == 0;
    port_ = listening ? ntohs(address.sin_port) : 0;
  }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  ~TakenPort() { ::close(fd_); }

  [[nodiscard]] int number() const { return port_; }

 private:
  int fd_;
  int port_ = 0;
};

std::vector<std::string> of_torchrun(int rank, int ranks, int port) {
  return {"RANK=" + std::to_string(rank),
          "WORLD_SIZE=" + std::to_string(ranks),
          "LOCAL_RANK=" + std::to_string(rank),
          "LOCAL_WORLD_SIZE=" + std::to_string(ranks),
          "MASTER_ADDR=127.0.0.1",
          "MASTER_PORT=" + std::to_string(port)};
}

// torchrun's own store listens at MASTER_PORT, whoever else may too.
TEST(Launchers, TorchrunWhosePortIsTaken) {
  const TakenPort port;
  Job job =
      Job::start({.role = "member",
                  .ranks = 3,
                  .rank_environment = [&](int rank) { return of_torchrun(rank, 3, port.number()); },
                  .launched = false});
  expect_members(job, 3);
}

TEST(Launchers, TorchrunWithASecretOfTheJob) {
  const int free_port = TakenPort().number();
  Job job =
      Job::start({.role = "member",
                  .ranks = 3,
                  .environment = {"GYRE_JOB_SECRET=" + std::string(64, 'a')},
                  .rank_environment = [&](int rank) { return of_torchrun(rank, 3, free_port - 1); },
                  .launched = false});
  expect_members(job, 3);
}

TEST(Launchers, UniqueIdInTheEnvironment) {
  Job job = Job::start({.role = "member", .ranks = 3});
  expect_members(job, 3);
}

TEST(Launchers, OwnVariablesComeBeforeThoseOfOthers) {
  Job job = Job::start(
      {.role = "member", .ranks = 2, .rank_environment = [](int rank) -> std::vector<std::string> {
         return {"RANK=" + std::to_string(1 - rank), "GYRE_RANK=" + std::to_string(rank),
                 "GYRE_NRANKS=2"};
       }});
  expect_members(job, 2);
}

TEST(Launchers, AProcessThatNobodyLaunchedIsAlone) {
  Job job = Job::start({.role = "member", .launched = false});
  expect_members(job, 1);
}

TEST(Launchers, StrangersHarmNobody) {
  Job job = Job::start({.role = "member",
                        .ranks = 3,
                        .arguments = {std::to_string(repetitions(30, 10))},
                        .environment = {"GYRE_INIT_TIMEOUT=20", "GYRE_TIMEOUT=30"},
                        .limit = std::chrono::seconds(100)});
  // The root of the first communicator lives in this process.
  Scanner scanner({::getpid(), job.pid(0), job.pid(1), job.pid(2)});
  const auto outcomes = job.wait();
  scanner.stop();
  EXPECT_GT(scanner.visits(), 30) << "the stranger met nobody";
  for (const RankOutcome& rank : outcomes) {
    EXPECT_TRUE(rank.succeeded()) << rank;
    EXPECT_EQ(rank.output.find("GYRE WARN"), std::string::npos) << rank;
  }
}

// Runs tests of this program where /dev/shm has no room and /tmp cannot be written.
TEST(Launchers, NeitherDevShmNorTmpIsNeeded) {
  if (::geteuid() != 0 || run_command("unshare -m true").status != 0) {
    GTEST_SKIP() << "needs root and mount namespaces";
  }
  const CommandOutcome outcome = run_command(
      "timeout -k 5 60 unshare -m sh -c 'mount -t tmpfs -o ro,size=4k none /dev/shm && "
      "mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && exec \"" +
      own_path() + "\" --gtest_filter=Launchers.UniqueId*:Launchers.TorchrunWhosePortIsTaken'");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("[  PASSED  ] 2 tests"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(argc, argv, {{"member", gyre::test::play_member}});
}

// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/launcher.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <barrier>
#include <map>
#include <mutex>

#include "bootstrap/id_exchange.h"
#include "bootstrap/pmi1.h"
#include "unit/bootstrap/ranks.h"

namespace gyre::bootstrap::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;
using Variables = std::map<std::string, std::string>;

// A PMIx server for processes that are threads.
struct FakePmixServer {
  explicit FakePmixServer(int size) : fence(size) {}
  std::barrier<> fence;
  std::mutex mutex;
  std::map<std::string, std::vector<std::byte>> values;
};

class FakePmix final : public drivers::PmixClient {
 public:
  FakePmix(FakePmixServer& server, drivers::PmixProcess process)
      : server_(server), process_(std::move(process)) {}
  [[nodiscard]] const drivers::PmixProcess& process() const override { return process_; }
  Status put(const std::string& key, std::span<const std::byte> value) override {
    const std::lock_guard lock(server_.mutex);
    if (!server_.values.emplace(key, std::vector(value.begin(), value.end())).second) {
      return gyre::fail(Code::internal_error, "the key " + key + " was used before");
    }
    return {};
  }
  Status fence(std::chrono::milliseconds) override {
    server_.fence.arrive_and_wait();
    return {};
  }
  Result<std::vector<std::byte>> get(int, const std::string& key) override {
    const std::lock_guard lock(server_.mutex);
    return server_.values.at(key);
  }

 private:
  FakePmixServer& server_;
  drivers::PmixProcess process_;
};

class LauncherTest : public Ranks {
 protected:
  using Outcome = Result<Launch>;

  Outcome launch(const Variables& variables, int instance = 0, Settings settings = {},
                 net::Clock::duration limit = 10s) {
    const Environment environment(variables);
    LaunchRequest request{settings, environment, loop, net::after(limit), test_version, instance};
    return find_launch(request);
  }

  // All ranks find each other and make a communicator out of what they were told.
  void expect_to_meet(int size, const std::function<Outcome(int rank)>& launch_rank) {
    std::vector<Outcome> launches(static_cast<std::size_t>(size));
    on_each_rank(size, [&](int rank) {
      Outcome& launched = launches[static_cast<std::size_t>(rank)];
      launched = launch_rank(rank);
      ASSERT_TRUE(launched) << launched.error().message;
      EXPECT_EQ(launched->rank, rank);
      EXPECT_EQ(launched->size, size);
      ControlOptions options = options_of(launched->id, rank, size);
      options.network = {};
      const auto channel = ControlChannel::connect(loop, options);
      ASSERT_TRUE(channel) << channel.error().message;
      ASSERT_TRUE((*channel)->barrier(soon()));
      (*channel)->goodbye();
    });
  }
};

TEST_F(LauncherTest, NobodyLaunchedMeansAlone) {
  const auto alone = launch({{"HOME", "/root"}});
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->rank, 0);
  EXPECT_EQ(alone->size, 1);
  EXPECT_EQ(alone->how, "alone");
  EXPECT_FALSE(alone->id.root.valid());
}

TEST_F(LauncherTest, AnIdInTheEnvironmentWithEitherPairOfNames) {
  Settings settings;
  settings.comm_id = root->id().to_hex();
  const auto own = launch({{"GYRE_RANK", "2"}, {"GYRE_NRANKS", "5"}, {"RANK", "0"}}, 0, settings);
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->rank, 2);
  EXPECT_EQ(own->size, 5);
  EXPECT_EQ(own->id.epoch, root->id().epoch);
  const auto plain = launch({{"RANK", "1"}, {"WORLD_SIZE", "2"}}, 0, settings);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->rank, 1);

  const auto without = launch({}, 0, settings);
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message, HasSubstr("GYRE_RANK and GYRE_NRANKS"));
  const auto outside = launch({{"GYRE_RANK", "5"}, {"GYRE_NRANKS", "5"}}, 0, settings);
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, HasSubstr("GYRE_RANK=\"5\""));
  const auto again = launch({{"GYRE_RANK", "2"}, {"GYRE_NRANKS", "5"}}, 1, settings);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::invalid_usage);
}

TEST_F(LauncherTest, PmixCarriesADifferentIdForEachCommunicator) {
  FakePmixServer server(3);
  std::mutex mutex;
  std::vector<std::uint64_t> epochs;
  for (int instance = 0; instance < 3; ++instance) {
    expect_to_meet(3, [&](int rank) {
      const Environment environment(
          Variables{{"PMIX_NAMESPACE", "job"}, {"PMIX_RANK", std::to_string(rank)}});
      Settings settings;
      LaunchRequest request{settings, environment, loop, soon(), test_version, instance};
      request.open_pmix = [&]() -> Result<std::unique_ptr<drivers::PmixClient>> {
        return std::make_unique<FakePmix>(server, drivers::PmixProcess{"job", rank, 3, rank, 3});
      };
      auto launched = find_launch(request);
      const std::lock_guard lock(mutex);
      if (launched && rank == 0) {
        EXPECT_EQ(launched->how, "PMIx");
        EXPECT_TRUE(launched->id.root.is_loopback()) << "all three are on this host";
        epochs.push_back(launched->id.epoch);
      }
      return launched;
    });
  }
  ASSERT_EQ(epochs.size(), 3u);
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

TEST_F(LauncherTest, WithoutLibpmixTheErrorIsTheAnswerNotAJobOfOne) {
  const Environment environment(Variables{{"PMIX_NAMESPACE", "job"}, {"PMIX_RANK", "0"}});
  Settings settings;
  LaunchRequest request{settings, environment, loop, soon(), test_version};
  request.open_pmix = []() -> Result<std::unique_ptr<drivers::PmixClient>> {
    return gyre::fail(Code::not_supported, "libpmix is not there.");
  };
  const auto launched = find_launch(request);
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, Code::not_supported);
}

Variables torchrun(int rank, int size, int port) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(size)},
          {"LOCAL_RANK", std::to_string(rank)},
          {"LOCAL_WORLD_SIZE", std::to_string(size)},
          {"MASTER_ADDR", "localhost"},
          {"MASTER_PORT", std::to_string(port)},
          {"TORCHELASTIC_RUN_ID", "test-" + std::to_string(::getpid())},
          {"TORCHELASTIC_RESTART_COUNT", "0"}};
}

TEST_F(LauncherTest, TorchrunOnOneHostMeetsThoughItsPortIsTaken) {
  const auto store = net::listen_on(net::Address::loopback_v4(0));
  ASSERT_TRUE(store);
  for (int instance = 0; instance < 3; ++instance) {
    expect_to_meet(4, [&](int rank) {
      auto launched = launch(torchrun(rank, 4, store->address.port()), instance);
      EXPECT_TRUE(!launched || launched->local_rank == rank);
      return launched;
    });
  }
}

// A listener with two free ports after its own.
net::Listener listen_below_free_ports() {
  while (true) {
    auto store = net::listen_on(net::Address::loopback_v4(0));
    const std::uint16_t port = store->address.port();
    if (port < 65000 &&
        net::listen_on(store->address.with_port(static_cast<std::uint16_t>(port + 1))) &&
        net::listen_on(store->address.with_port(static_cast<std::uint16_t>(port + 2)))) {
      return std::move(*store);
    }
  }
}

TEST_F(LauncherTest, TorchrunAcrossHostsMeetsWithTheJobsSecret) {
  Settings settings;
  settings.job_secret = std::string(64, 'a');
  const net::Listener store = listen_below_free_ports();
  for (int instance = 0; instance < 2; ++instance) {
    expect_to_meet(3, [&](int rank) {
      return launch(torchrun(rank, 3, store.address.port()), instance, settings);
    });
  }
}

TEST_F(LauncherTest, TorchrunAcrossHostsWithoutASecretIsRefusedWithAnExplanation) {
  Variables variables = torchrun(0, 4, 29500);
  variables["LOCAL_WORLD_SIZE"] = "2";
  const auto launched = launch(variables);
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, Code::invalid_usage);
  EXPECT_THAT(launched.error().message, HasSubstr("GYRE_JOB_SECRET"));
}

TEST_F(LauncherTest, TorchrunVariablesThatMakeNoSenseAreNamed) {
  const auto expect = [&](const char* name, const char* value) {
    Variables variables = torchrun(0, 2, 29500);
    variables[name] = value;
    const auto launched = launch(variables);
    ASSERT_FALSE(launched) << name;
    EXPECT_THAT(launched.error().message, HasSubstr(name));
  };
  expect("RANK", "2");
  expect("RANK", "x");
  expect("WORLD_SIZE", "0");
  expect("MASTER_PORT", "70000");
  expect("MASTER_ADDR", "");
}

TEST_F(LauncherTest, AMissingRankZeroIsReportedAtTheDeadline) {
  const auto launched = launch(torchrun(1, 2, 29500), 0, {}, 50ms);
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, Code::timeout);
  EXPECT_THAT(launched.error().message, HasSubstr("Did rank 0 start"));
}

TEST_F(LauncherTest, GarbageAtTheMeetingPlaceGetsNoIdAndStopsNobody) {
  const auto name = net::Address::abstract_unix("gyre-exchange-" + std::to_string(::getpid()));
  ASSERT_TRUE(serve_id(loop, *name, root->id(), 3, soon()));
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 10; ++i) {
    auto fd = net::connect_to(*name, soon());
    ASSERT_TRUE(fd);
    ASSERT_TRUE(net::write_all(fd->get(), net::Bytes(40, std::byte{'x'}), soon()));
    std::array<std::byte, 1> byte{};
    EXPECT_FALSE(net::read_exactly(fd->get(), byte, soon())) << "it is closed without an answer";
    auto mute = net::connect_to(*name, soon());
    ASSERT_TRUE(mute);
    silent.push_back(std::move(*mute));
  }
  for (const int rank : {1, 2}) {
    const auto id = fetch_id(*name, rank, soon());
    ASSERT_TRUE(id) << id.error().message;
    EXPECT_EQ(id->secret, root->id().secret);
  }
  EXPECT_FALSE(fetch_id(*name, 1, net::after(20ms))) << "all had it: nobody serves any more";
}

// A PMI-1 server for one process, on the other end of a socket pair.
class FakeHydra {
 public:
  FakeHydra() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0);
    client.reset(fds[0]);
    server_.reset(fds[1]);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeHydra() {
    client.reset();
    thread_.join();
  }
  std::vector<std::string> log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  UniqueFd client;

 private:
  std::string answer(const std::string& line) {
    const std::string command = Pmi1::field(line, "cmd");
    if (command == "init") {
      return "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1";
    }
    if (command == "get_my_kvsname") {
      return "cmd=my_kvsname kvsname=kvs_1";
    }
    if (command == "put") {
      values_[Pmi1::field(line, "key")] = Pmi1::field(line, "value");
      return "cmd=put_result rc=0 msg=success";
    }
    if (command == "get") {
      const auto found = values_.find(Pmi1::field(line, "key"));
      return found == values_.end() ? "cmd=get_result rc=-1 msg=key_not_found"
                                    : "cmd=get_result rc=0 msg=success value=" + found->second;
    }
    return command == "barrier_in" ? "cmd=barrier_out" : "cmd=finalize_ack";
  }
  void serve() {
    std::string line;
    char byte = 0;
    while (::recv(server_.get(), &byte, 1, 0) == 1) {
      if (byte != '\n') {
        line += byte;
        continue;
      }
      const std::string reply = answer(line) + "\n";
      {
        const std::lock_guard lock(mutex_);
        log_.push_back(Pmi1::field(line, "cmd"));
      }
      ::send(server_.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
      line.clear();
    }
  }
  UniqueFd server_;
  std::map<std::string, std::string> values_;
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::thread thread_;
};

TEST_F(LauncherTest, Pmi1RankZeroPublishesTheIdAndEndsInGoodOrder) {
  FakeHydra hydra;
  const auto launched = launch({{"PMI_FD", std::to_string(hydra.client.get())},
                                {"PMI_RANK", "0"},
                                {"PMI_SIZE", "2"},
                                {"MPI_LOCALRANKID", "0"}});
  ASSERT_TRUE(launched) << launched.error().message;
  EXPECT_EQ(launched->how, "PMI");
  EXPECT_EQ(launched->local_rank, 0);
  ASSERT_TRUE(launched->root);
  EXPECT_EQ(launched->id.epoch, launched->root->id().epoch);
  EXPECT_EQ(hydra.log(), (std::vector<std::string>{"init", "get_my_kvsname", "put", "barrier_in",
                                                   "get", "finalize"}));
}

TEST_F(LauncherTest, Pmi1WithoutAnIdInItsSpaceIsAnError) {
  FakeHydra hydra;
  const auto launched = launch(
      {{"PMI_FD", std::to_string(hydra.client.get())}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  ASSERT_FALSE(launched);
  EXPECT_THAT(launched.error().message, HasSubstr("key_not_found"));
}

}  // namespace
}  // namespace gyre::bootstrap::testing

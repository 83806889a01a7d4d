// SPDX-License-Identifier: Apache-2.0
// What can be wrong with those who come to a root, and that every one of them hears of it.
#include "bootstrap/root.h"

#include <gmock/gmock.h>

#include "bootstrap/messages.h"
#include "net/acceptor.h"
#include "net/connection.h"
#include "unit/bootstrap/ranks.h"

namespace gyre::bootstrap::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class RootTest : public Ranks {
 protected:
  static void expect_all_hear(const std::vector<Channel>& outcomes, Code code,
                              const std::string& text) {
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      ASSERT_FALSE(outcomes[i]) << "number " << i;
      EXPECT_EQ(outcomes[i].error().code, code) << outcomes[i].error().message;
      EXPECT_THAT(outcomes[i].error().message, HasSubstr(text)) << "number " << i;
    }
  }
};

TEST_F(RootTest, AMissingRankIsNamedToAllAtTheDeadline) {
  std::vector<ControlOptions> all;
  for (const int rank : {0, 1, 3}) {
    all.push_back(options(rank, 4, 250ms));
  }
  const auto begin = net::Clock::now();
  const auto outcomes = join(std::move(all));
  expect_all_hear(outcomes, Code::timeout, "Rank 2 did not join (3 of 4 present) within 0.25 s");
  EXPECT_GE(net::Clock::now() - begin, 200ms);
  EXPECT_LT(net::Clock::now() - begin, 1500ms);
}

TEST_F(RootTest, WhoComesAfterTheDeadlineHearsWhy) {
  auto waiting = join({options(0, 2, 50ms)});
  ASSERT_FALSE(waiting[0]);
  auto late = join({options(1, 2, 5s)});
  expect_all_hear(late, Code::timeout, "Rank 1 did not join (1 of 2 present)");
}

TEST_F(RootTest, ARankTwiceIsToldToAllWithBothNamed) {
  const auto outcomes = join({options(0, 3, 10s), options(1, 3, 10s), options(1, 3, 10s)});
  expect_all_hear(outcomes, Code::invalid_argument, "Rank 1 joined twice: pid ");
}

TEST_F(RootTest, DifferentSizesAreToldToAllWithBothNamed) {
  const auto outcomes = join({options(0, 3, 10s), options(1, 4, 10s)});
  expect_all_hear(outcomes, Code::invalid_argument, "disagree on how many they are");
  EXPECT_THAT(outcomes[0].error().message, HasSubstr("nranks = 3"));
  EXPECT_THAT(outcomes[0].error().message, HasSubstr("nranks = 4"));
}

TEST_F(RootTest, AnIdIsGoodForOneCommunicator) {
  auto first = join(3);
  auto second = join(3, 10s);
  expect_all_hear(second, Code::invalid_argument,
                  "used already: it has made a communicator of 3 ranks");
  on_each_rank(3, [&](int rank) {
    EXPECT_TRUE((*first[static_cast<std::size_t>(rank)])->barrier(soon()))
        << "the first communicator is not harmed";
  });
}

TEST_F(RootTest, AnotherLibraryVersionIsToldToAllWithBothNamed) {
  std::vector<ControlOptions> all{options(0, 3, 10s), options(1, 3, 10s), options(2, 3, 10s)};
  all[1].library_version = 20000;
  const auto outcomes = join(std::move(all));
  expect_all_hear(outcomes, Code::invalid_argument, "2.0.0");
  expect_all_hear(outcomes, Code::invalid_argument, "0.1.0");
}

TEST_F(RootTest, ARankThatLeavesWhileOthersWaitIsNamedToThem) {
  // Rank 1 is played by hand: it checks in and dies.
  auto dialled =
      net::dial(root->id().root,
                {root->id().secret, root->id().epoch, net::Purpose::check_in, 1, test_version},
                net::root_rank, soon());
  ASSERT_TRUE(dialled);
  CheckIn check_in;
  check_in.rank = 1;
  check_in.size = 3;
  check_in.remaining = 30s;
  check_in.timeout = 30s;
  check_in.address = net::Address::loopback_v4(1);
  check_in.person = {4321, "elsewhere"};
  ASSERT_TRUE(net::write_all(
      dialled->get(),
      net::encode_frame(static_cast<net::FrameType>(Message::check_in), check_in.encode()),
      soon()));
  dialled->reset();
  const auto outcomes = join({options(0, 3, 10s), options(2, 3, 10s)});
  expect_all_hear(outcomes, Code::remote_error,
                  "Rank 1 (pid 4321 on host elsewhere) went away before all ranks had joined");
}

TEST_F(RootTest, ARankOutOfRangeIsRefusedBeforeItDisturbsAnybody) {
  for (const auto& [rank, size] : {std::pair{3, 3}, {-1, 3}, {0, 0}, {0, -5}}) {
    const auto outcomes = join({options(rank, size, 1s)});
    ASSERT_FALSE(outcomes[0]);
    EXPECT_EQ(outcomes[0].error().code, Code::invalid_argument);
  }
  EXPECT_FALSE(root->finished());
}

TEST_F(RootTest, WaitingRanksHearWhenTheRootDies) {
  // A stand-in that takes the check-in of rank 0 and then closes.
  auto listener = net::listen_on(net::Address::loopback_v4(0));
  ASSERT_TRUE(listener);
  ControlOptions waiting = options(0, 2, 20s);
  waiting.id.root = listener->address;
  const net::Credentials credentials{waiting.id.secret, waiting.id.epoch, net::Purpose::check_in,
                                     net::root_rank, test_version};
  std::vector<std::shared_ptr<net::Connection>> guests;
  auto stand_in =
      net::Acceptor::start(loop, std::move(*listener), credentials,
                           [&](UniqueFd fd, const net::PeerIdentity&, const net::Address&) {
                             guests.push_back(net::Connection::start(
                                 loop, std::move(fd), limits_at_root(),
                                 {[&](const net::Frame&) { guests.back()->close(); }, {}}));
                           });
  ASSERT_TRUE(stand_in);
  const auto outcomes = join({waiting});
  ASSERT_FALSE(outcomes[0]);
  EXPECT_EQ(outcomes[0].error().code, Code::remote_error);
  EXPECT_THAT(outcomes[0].error().message, HasSubstr("still alive?"));
}

TEST_F(RootTest, AnUnreachableRootIsNamed) {
  ControlOptions lost = options(0, 2, 100ms);
  root.reset();
  const auto outcomes = join({lost});
  ASSERT_FALSE(outcomes[0]);
  EXPECT_EQ(outcomes[0].error().code, Code::timeout);
  EXPECT_THAT(outcomes[0].error().message, HasSubstr(lost.id.root.to_string()));
}

TEST(Messages, ListOfRanksReadsWell) {
  EXPECT_EQ(list_ranks({2}), "rank 2");
  EXPECT_EQ(list_ranks({2, 5}), "ranks 2 and 5");
  EXPECT_EQ(list_ranks({2, 5, 7}), "ranks 2, 5 and 7");
  EXPECT_EQ(list_ranks({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
}

// Every message, cut at every length, is refused; whole, it comes back as it was.
template <typename Message>
void expect_exact(const Message& message) {
  const net::Bytes bytes = message.encode();
  ASSERT_TRUE(Message::decode(bytes));
  EXPECT_EQ(Message::decode(bytes)->encode(), bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(Message::decode(net::ByteView(bytes).first(length))) << length;
  }
  net::Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(Message::decode(longer));
}

TEST(Messages, AreExact) {
  CheckIn check_in;
  check_in.rank = 3;
  check_in.size = 9;
  check_in.remaining = 5s;
  check_in.timeout = 6s;
  check_in.address = net::Address::loopback_v4(99);
  check_in.network = "boot/1";
  check_in.person = {77, "host"};
  expect_exact(check_in);
  expect_exact(Welcome{{{1, net::Address::loopback_v4(5)}, {2, net::Address::loopback_v4(6)}}});
  expect_exact(Refusal{{Code::timeout, "No."}});
  expect_exact(GatherStep{7, 2, GatherStep::Kind::all_gather, {bytes_of("a"), {}, bytes_of("bc")}});
  expect_exact(FailureNews{4, {Code::remote_error, "Gone."}});
}

}  // namespace
}  // namespace gyre::bootstrap::testing

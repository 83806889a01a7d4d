// SPDX-License-Identifier: Apache-2.0
#include "core/handle_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <unordered_set>

namespace gyre::core {
namespace {

// Plain members: two threads inside at once are a race that a thread sanitizer sees.
struct Object {
  int value = 0;
};
using Table = HandleTable<Object, 1>;

std::unique_ptr<Object> object(int value) {
  return std::make_unique<Object>(Object{value});
}

TEST(HandleTable, ATicketGivesItsObject) {
  Table table;
  const auto first = table.add(object(1));
  const auto second = table.add(object(2));
  ASSERT_NE(first, second);
  EXPECT_EQ(table.enter(first).get()->value, 1);
  EXPECT_EQ(table.enter(second).get()->value, 2);
}

TEST(HandleTable, OneThreadAtATimeIsInside) {
  Table table;
  const auto ticket = table.add(object(1));
  {
    const auto use = table.enter(ticket);
    ASSERT_EQ(use.entry(), Entry::entered);
    const auto second = table.enter(ticket);
    EXPECT_EQ(second.entry(), Entry::in_use);
    EXPECT_EQ(second.get(), nullptr);
  }
  EXPECT_EQ(table.enter(ticket).entry(), Entry::entered);
}

TEST(HandleTable, ARefusedEntryDoesNotEndTheUseOfAnother) {
  Table table;
  const auto ticket = table.add(object(1));
  const auto use = table.enter(ticket);
  static_cast<void>(table.enter(ticket));
  EXPECT_EQ(table.enter(ticket).entry(), Entry::in_use);
}

TEST(HandleTable, AStaleTicketIsUnknownForEver) {
  Table table;
  std::unordered_set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto ticket = table.add(object(i));
    EXPECT_TRUE(seen.insert(ticket).second) << "the slot is used again, its ticket must not be";
    EXPECT_EQ(table.remove(table.enter(ticket))->value, i);
    EXPECT_EQ(table.enter(ticket).entry(), Entry::unknown);
    EXPECT_FALSE(table.with_locked(ticket, [](Object&) {}));
  }
  const auto living = table.add(object(-1));
  for (const auto ticket : seen) {
    EXPECT_EQ(table.enter(ticket).entry(), Entry::unknown);
  }
  EXPECT_EQ(table.enter(living).get()->value, -1);
}

TEST(HandleTable, ATicketOfAnotherKindIsUnknown) {
  Table table;
  HandleTable<Object, 2> others;
  const auto mine = table.add(object(1));
  const auto foreign = others.add(object(2));
  EXPECT_EQ(table.enter(foreign).entry(), Entry::unknown);
  EXPECT_EQ(others.enter(mine).entry(), Entry::unknown);
  EXPECT_FALSE(table.with_locked(foreign, [](Object&) {}));
}

TEST(HandleTable, InventedTicketsAreUnknown) {
  Table table;
  const auto ticket = table.add(object(1));
  EXPECT_EQ(table.enter(0).entry(), Entry::unknown);
  EXPECT_FALSE(table.with_locked(0, [](Object&) {}));
  const auto refuse = [&](std::uint64_t invented) {
    EXPECT_EQ(table.enter(invented).entry(), Entry::unknown) << std::hex << invented;
    EXPECT_FALSE(table.with_locked(invented, [](Object&) {})) << std::hex << invented;
  };
  for (int bit = 0; bit < 64; ++bit) {
    refuse(ticket ^ std::uint64_t{1} << bit);
  }
  {
    const auto use = table.enter(ticket);
    for (int bit = 0; bit < 64; ++bit) {
      refuse(ticket ^ std::uint64_t{1} << bit);
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    if (const std::uint64_t invented = random(); invented != ticket) {
      refuse(invented);
    }
  }
  EXPECT_EQ(table.enter(ticket).entry(), Entry::entered);
}

// Taking a communicator apart takes a while; its slot already serves another one.
TEST(HandleTable, ANewObjectIsNeverInUseBecauseItsSlotWas) {
  Table table;
  const auto old_ticket = table.add(object(1));
  auto use = table.enter(old_ticket);
  const auto removed = table.remove(std::move(use));
  const auto ticket = table.add(object(2));
  const auto entered = table.enter(ticket);
  ASSERT_EQ(entered.entry(), Entry::entered);
  EXPECT_EQ(entered.get()->value, 2);
  EXPECT_EQ(removed->value, 1);
}

TEST(HandleTable, WithLockedReachesAnObjectThatIsInUse) {
  Table table;
  const auto ticket = table.add(object(1));
  const auto use = table.enter(ticket);
  int seen = 0;
  EXPECT_TRUE(table.with_locked(ticket, [&](Object& found) { seen = found.value; }));
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(table.enter(ticket).entry(), Entry::in_use);
}

TEST(HandleTable, IsFullAt65536AndUsableAfterOneLeft) {
  Table table;
  std::uint64_t last = 0;
  for (int i = 0; i < 65536; ++i) {
    last = table.add(object(i));
    ASSERT_NE(last, 0U);
  }
  EXPECT_EQ(table.add(object(0)), 0U);
  EXPECT_EQ(table.remove(table.enter(last))->value, 65535);
  EXPECT_NE(table.add(object(0)), 0U);
}

// Threads enter, question, remove and replace the same few objects. The count inside an object is
// plain: if two were ever inside, it would miss steps.
TEST(HandleTable, ConcurrentEntriesAndRemovalsExcludeEachOther) {
  constexpr int threads = 4;
  constexpr int rounds = 20'000;
  Table table;
  std::array<std::atomic<std::uint64_t>, 3> tickets{};
  for (auto& ticket : tickets) {
    ticket = table.add(object(0));
  }
  std::atomic<int> counted{0};  // steps in objects that were removed
  std::atomic<int> entered{0};  // steps made
  std::atomic<int> questions{0};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < rounds; ++i) {
      auto& place = tickets[random() % tickets.size()];
      const std::uint64_t ticket = place.load();
      questions += table.with_locked(ticket, [](const Object&) {}) ? 1 : 0;
      auto use = table.enter(ticket);
      if (use.get() == nullptr) {
        continue;
      }
      ++use.get()->value;
      ++entered;
      if (random() % 8 == 0) {
        counted += table.remove(std::move(use))->value;
        place = table.add(object(0));
      }
    }
  };
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; ++i) {
    running.emplace_back(work, i);
  }
  std::ranges::for_each(running, [](std::thread& thread) { thread.join(); });
  for (auto& ticket : tickets) {
    counted += table.remove(table.enter(ticket))->value;
  }
  EXPECT_EQ(counted, entered);
  EXPECT_GT(entered, 0);
  EXPECT_GT(questions, 0);
}

}  // namespace
}  // namespace gyre::core

// SPDX-License-Identifier: Apache-2.0
// Plans for other simulators: what is sent is what is received, nothing waits in a circle, and the
// files are what their readers expect.
#include <map>
#include <sstream>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/catalog.h"
#include "collectives/estimate.h"
#include "collectives/layout.h"
#include "gyre_plan/exports.h"
#include "gyre_plan/operations.h"

namespace gyre::tool {
namespace {

using plan::Algorithm;
using plan::Collective;
using plan::Protocol;
using Schedule = std::vector<std::vector<Operation>>;  // by rank

Unrolling unrolling(const plan::Recipe& recipe, std::uint64_t count, std::uint64_t slot_bytes,
                    int channels, int slots) {
  const plan::Plan plan = plan::describe(recipe);
  const bool sectioned = plan::layout_of(plan.collective).sectioned;
  return {
      .geometry = plan::Geometry({.count = count,
                                  .element_bytes = 4,
                                  .blocks = sectioned ? 1 : static_cast<std::uint64_t>(plan.blocks),
                                  .slot_bytes = slot_bytes,
                                  .channels = static_cast<std::uint64_t>(channels)}),
      .element_bytes = 4,
      .channels = channels,
      .slots = std::max(slots, plan.slots)};
}

Schedule schedule_of(const plan::Recipe& recipe, const Unrolling& how) {
  Schedule all;
  for (int rank = 0; rank < recipe.ranks; ++rank) {
    all.push_back(unroll(plan::describe(recipe), plan::program_of(recipe, rank), how).value());
  }
  return all;
}

// (sender, receiver, tag) of each message, with its bytes.
using Messages = std::map<std::tuple<int, int, std::uint64_t>, std::uint64_t>;

Messages messages_of(const Schedule& schedule, Operation::Kind kind) {
  Messages all;
  for (int rank = 0; rank < static_cast<int>(schedule.size()); ++rank) {
    for (const Operation& operation : schedule[static_cast<std::size_t>(rank)]) {
      if (operation.kind != kind) continue;
      const bool sends = kind == Operation::Kind::send;
      const auto key =
          std::tuple(sends ? rank : operation.peer, sends ? operation.peer : rank, operation.tag);
      EXPECT_TRUE(all.emplace(key, operation.bytes).second) << "two messages with one tag";
    }
  }
  return all;
}

// How many operations cannot be done, in whatever order ranks are looked at.
std::size_t stuck_operations(const Schedule& schedule) {
  std::vector<std::vector<bool>> done;
  for (const auto& rank : schedule) done.emplace_back(rank.size(), false);
  std::map<std::tuple<int, int, std::uint64_t>, bool> sent;
  std::size_t left = 0;
  for (const auto& rank : schedule) left += rank.size();
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
      for (std::size_t i = 0; i < schedule[rank].size(); ++i) {
        const Operation& operation = schedule[rank][i];
        bool can = !done[rank][i];
        for (const std::uint32_t before : operation.after) can = can && done[rank][before];
        if (operation.kind == Operation::Kind::receive) {
          can = can && sent[{operation.peer, static_cast<int>(rank), operation.tag}];
        }
        if (!can) continue;
        if (operation.kind == Operation::Kind::send) {
          sent[{static_cast<int>(rank), operation.peer, operation.tag}] = true;
        }
        done[rank][i] = moved = true;
        --left;
      }
    }
  }
  return left;
}

TEST(Export, EveryPlanSendsWhatItReceives) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce, Collective::reduce_scatter,
        Collective::all_gather, Collective::broadcast, Collective::gather, Collective::scatter,
        Collective::all_to_all}) {
    for (const plan::Recipe& recipe : plan::recipes(collective, 6, 4)) {
      if (recipe.protocol == Protocol::direct) continue;
      SCOPED_TRACE(plan::title(plan::describe(recipe)));
      for (const int channels : {1, 3}) {
        const Schedule schedule = schedule_of(recipe, unrolling(recipe, 3001, 1024, channels, 1));
        const Messages sent = messages_of(schedule, Operation::Kind::send);
        EXPECT_EQ(sent, messages_of(schedule, Operation::Kind::receive));
        EXPECT_EQ(stuck_operations(schedule), 0U);
        const auto estimate = plan::estimate(recipe, {},
                                             {.count = 3001,
                                              .element_bytes = 4,
                                              .slot_bytes = 1024,
                                              .channels = channels,
                                              .slots = 1})
                                  .value();
        EXPECT_EQ(sent.size(), estimate.messages);
        std::uint64_t bytes = 0;
        for (const auto& message : sent) bytes += message.second;
        EXPECT_EQ(bytes, estimate.bytes);
      }
    }
  }
}

// Two tiles down a chain with one slot: a receive waits until the message before it was sent on.
TEST(Export, GoalIsTheTextThatLogGopSimReads) {
  const plan::Recipe recipe{Collective::broadcast, Algorithm::chain, Protocol::staged, 3, 0};
  const Schedule schedule = schedule_of(recipe, unrolling(recipe, 32, 64, 1, 1));
  std::ostringstream text;
  write_goal_heading(text, 3);
  for (int rank = 0; rank < 3; ++rank) {
    write_goal_rank(text, rank, schedule[static_cast<std::size_t>(rank)], 0);
  }
  EXPECT_EQ(text.str(),
            "num_ranks 3\n"
            "\nrank 0 {\n"
            "l1: send 64b to 1 tag 0\n"
            "l2: send 64b to 1 tag 1\n"
            "}\n"
            "\nrank 1 {\n"
            "l1: recv 64b from 0 tag 0\n"
            "l2: send 64b to 2 tag 0\n"
            "l2 requires l1\n"
            "l3: recv 64b from 0 tag 1\n"
            "l3 requires l1\n"
            "l4: calc 0\n"
            "l4 requires l1\n"
            "l4 requires l3\n"
            "l5: send 64b to 2 tag 1\n"
            "l5 requires l4\n"
            "}\n"
            "\nrank 2 {\n"
            "l1: recv 64b from 1 tag 0\n"
            "l2: recv 64b from 1 tag 1\n"
            "l2 requires l1\n"
            "l3: calc 0\n"
            "l3 requires l1\n"
            "l3 requires l2\n"
            "}\n");
}

TEST(Export, ComputationsTakeTheirTime) {
  const std::vector<Operation> one = {{.kind = Operation::Kind::compute, .bytes = 1000}};
  std::ostringstream text;
  write_goal_rank(text, 0, one, 2.5e-9);
  EXPECT_THAT(text.str(), testing::HasSubstr("l1: calc 2500\n"));
}

// A reader of protobuf's wire format: varints and byte strings, which is all that is written.
struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;
  std::string text = {};
};

std::uint64_t take_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

std::vector<Field> fields_of(std::string_view message) {
  std::vector<Field> fields;
  while (!message.empty()) {
    const std::uint64_t key = take_varint(message);
    Field field{.number = key >> 3U};
    field.value = take_varint(message);
    if ((key & 7U) == 2) {
      field.text = message.substr(0, field.value);
      message.remove_prefix(field.value);
    }
    fields.push_back(field);
  }
  return fields;
}

// By number of the field; the last one counts.
std::map<std::uint64_t, Field> by_number(std::string_view message) {
  std::map<std::uint64_t, Field> all;
  for (const Field& field : fields_of(message)) all[field.number] = field;
  return all;
}

TEST(Export, ChakraIsAMessageForEachOperation) {
  const std::vector<Operation> operations = {
      {.kind = Operation::Kind::receive, .peer = 200, .bytes = 300, .tag = 5},
      {.kind = Operation::Kind::compute, .bytes = 4'000'000, .after = {0}},
      {.kind = Operation::Kind::send, .peer = 1, .bytes = 300, .tag = 7, .after = {0, 1}}};
  std::ostringstream file;
  write_chakra_rank(file, 3, operations, 1e-12);
  const std::string text = file.str();
  std::string_view rest = text;
  std::vector<std::string_view> messages;
  while (!rest.empty()) {
    const std::uint64_t length = take_varint(rest);
    messages.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ(by_number(messages[0])[1].text, "0.0.4");
  const std::uint64_t id = 1, name = 2, type = 3, data_deps = 5, micros = 7, attr = 10;
  EXPECT_EQ(by_number(messages[1])[type].value, 6U) << "COMM_RECV_NODE";
  EXPECT_EQ(by_number(messages[1])[name].text, "receive 200 to 3");
  EXPECT_EQ(by_number(messages[2])[type].value, 4U) << "COMP_NODE";
  EXPECT_EQ(by_number(messages[2])[micros].value, 4U);
  auto send = by_number(messages[3]);
  EXPECT_EQ(send[id].value, 2U);
  EXPECT_EQ(send[type].value, 5U) << "COMM_SEND_NODE";
  EXPECT_EQ(send[data_deps].text, std::string("\x00\x01", 2));
  std::map<std::string, std::uint64_t> attributes;
  for (const Field& field : fields_of(messages[3])) {
    if (field.number != attr) continue;
    const auto parts = fields_of(field.text);
    ASSERT_EQ(parts.size(), 2U);
    attributes[parts[0].text] = parts[1].value;
  }
  EXPECT_THAT(attributes, testing::UnorderedElementsAre(
                              testing::Pair("is_cpu_op", 0), testing::Pair("comm_size", 300),
                              testing::Pair("comm_src", 3), testing::Pair("comm_dst", 1),
                              testing::Pair("comm_tag", 7)));
}

TEST(Export, DirectPlansHaveNoMessages) {
  const plan::Recipe recipe{Collective::all_reduce, Algorithm::two_shot, Protocol::direct, 2, -1};
  const auto result =
      unroll(plan::describe(recipe), plan::program_of(recipe, 0), unrolling(recipe, 32, 64, 1, 1));
  EXPECT_EQ(result.error().code, Code::not_supported);
}

}  // namespace
}  // namespace gyre::tool

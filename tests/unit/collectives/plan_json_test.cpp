// SPDX-License-Identifier: Apache-2.0
#include "collectives/plan_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "collectives/catalog.h"
#include "collectives/text.h"
#include "support/temporary_directory.h"

namespace gyre::plan {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void expect_same(const Plan& one, const Plan& other) {
  EXPECT_EQ(one.name, other.name);
  EXPECT_EQ(one.collective, other.collective);
  EXPECT_EQ(one.protocol, other.protocol);
  EXPECT_EQ(one.ranks, other.ranks);
  EXPECT_EQ(one.root, other.root);
  EXPECT_EQ(one.blocks, other.blocks);
  EXPECT_EQ(one.slots, other.slots);
  EXPECT_EQ(one.in_place_safe, other.in_place_safe);
  EXPECT_EQ(one.programs, other.programs);
}

TEST(PlanJson, EveryPlanOfTheCatalogComesBackAsItWas) {
  int plans = 0;
  for (const Collective collective : all_collectives) {
    for (const int ranks : {1, 2, 3, 5, 8, 16}) {
      for (const Recipe& recipe : recipes(collective, ranks, ranks / 2)) {
        const Plan plan = make_plan(recipe);
        SCOPED_TRACE(to_text(plan).substr(0, 100));
        const auto again = parse_plan(to_json(plan));
        ASSERT_TRUE(again) << again.error().message;
        expect_same(plan, *again);
        ++plans;
      }
    }
  }
  EXPECT_GT(plans, 100);
}

TEST(PlanJson, ItReadsAsItIsDocumented) {
  EXPECT_EQ(
      to_json(make_plan({Collective::broadcast, Algorithm::one_shot, Protocol::staged, 2, 1})),
      "{\"gyre_plan\": 1,\n"
      " \"name\": \"oneshot\",\n"
      " \"collective\": \"Broadcast\",\n"
      " \"protocol\": \"staged\",\n"
      " \"ranks\": 2,\n"
      " \"root\": 1,\n"
      " \"blocks\": 1,\n"
      " \"slots\": 1,\n"
      " \"in_place_safe\": true,\n"
      " \"programs\": [\n"
      "  [\n"
      "   {\"wait\": 1},\n"
      "   {\"combine\": [{\"slot\": 0, \"peer\": 1}], \"to\": [{\"output\": 0}]},\n"
      "   {\"release\": 1}],\n"
      "  [\n"
      "   {\"combine\": [{\"input\": 0}], \"to\": [{\"peer_slot\": 0, \"peer\": 0}]},\n"
      "   {\"combine\": [{\"input\": 0}], \"to\": [{\"output\": 0}]}]]}\n");
}

// A good document, of which each case spoils one piece.
std::string document() {
  return to_json(make_plan({Collective::broadcast, Algorithm::one_shot, Protocol::staged, 2, 1}));
}

struct Spoilt {
  std::string name, piece, by;
  std::string where, why;  // in the message
};

class Strict : public testing::TestWithParam<Spoilt> {};

TEST_P(Strict, RefusesWithThePlaceAndTheReason) {
  const Spoilt& spoilt = GetParam();
  std::string text = document();
  const auto at = text.find(spoilt.piece);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, spoilt.piece.size(), spoilt.by);
  const auto plan = parse_plan(text);
  ASSERT_FALSE(plan) << text;
  EXPECT_EQ(plan.error().code, Code::invalid_argument);
  EXPECT_THAT(plan.error().message, AllOf(HasSubstr(spoilt.where), HasSubstr(spoilt.why)));
}

INSTANTIATE_TEST_SUITE_P(
    Spoilt, Strict,
    testing::Values(
        Spoilt{"NoJson", "]]}", "]}", "line 16", "parse error"},
        Spoilt{"Trailing", "]]}\n", "]]} x", "", "parse error"},
        Spoilt{"Comment", "\"ranks\"", "/* */ \"ranks\"", "line 5", "parse error"},
        Spoilt{"Version", "\"gyre_plan\": 1", "\"gyre_plan\": 2", "/gyre_plan", "from 1 to 1"},
        Spoilt{"NoVersion", "\"gyre_plan\": 1,", "", "the top", "\"gyre_plan\" is missing"},
        Spoilt{"UnknownKey", "\"slots\"", "\"slot_count\": 3, \"slots\"", "/slot_count",
               "no such key"},
        Spoilt{"RepeatedKey", "\"slots\"", "\"ranks\": 2, \"slots\"", "\"ranks\"", "twice"},
        Spoilt{"RepeatedKeyDeep", "{\"wait\": 1}", "{\"wait\": 1, \"wait\": 1}", "/programs",
               "twice"},
        Spoilt{"EmptyName", "\"oneshot\"", "\"\"", "/name", "letters"},
        Spoilt{"NameWithControl", "\"oneshot\"", "\"one\\u001bshot\"", "/name", "letters"},
        Spoilt{"Collective", "Broadcast", "Bcast", "/collective", "\"Bcast\""},
        Spoilt{"WithoutPlans", "Broadcast", "Barrier", "/collective", "\"Barrier\""},
        Spoilt{"Protocol", "\"staged\"", "7", "/protocol", "7"},
        Spoilt{"Ranks", "\"ranks\": 2", "\"ranks\": 0", "/ranks", "from 1"},
        Spoilt{"RanksReal", "\"ranks\": 2", "\"ranks\": 2.0", "/ranks", "2.0"},
        Spoilt{"RanksText", "\"ranks\": 2", "\"ranks\": \"2\"", "/ranks", "\"2\""},
        Spoilt{"RanksHuge", "\"ranks\": 2", "\"ranks\": 18446744073709551615", "/ranks",
               "18446744073709551615"},
        Spoilt{"TooFewPrograms", "\"ranks\": 2", "\"ranks\": 3", "/programs", "3 programs"},
        Spoilt{"Root", "\"root\": 1", "\"root\": 2", "/root", "from 0 to 1"},
        Spoilt{"NoRoot", "\"root\": 1,", "", "the top", "\"root\" is missing"},
        Spoilt{"NeedlessRoot", "Broadcast", "AllReduce", "/root", "AllReduce has no root"},
        Spoilt{"Blocks", "\"blocks\": 1", "\"blocks\": -1", "/blocks", "-1"},
        Spoilt{"Slots", "\"slots\": 1", "\"slots\": null", "/slots", "null"},
        Spoilt{"InPlace", "\"in_place_safe\": true", "\"in_place_safe\": 1", "/in_place_safe",
               "true or false"},
        Spoilt{"Step", "{\"wait\": 1}", "[]", "/programs/0/0", "array of 0"},
        Spoilt{"StepKind", "{\"wait\": 1}", "{\"sleep\": 1}", "/programs/0/0", "\"sleep\""},
        Spoilt{"TwoKinds", "{\"wait\": 1}", "{\"wait\": 1, \"release\": 1}",
               "/programs/0/0/release", "no such key"},
        Spoilt{"Peer", "{\"wait\": 1}", "{\"wait\": 2}", "/programs/0/0/wait", "from 0 to 1"},
        Spoilt{"NoDestinations", ", \"to\": [{\"output\": 0}]}", "}", "/programs/0/1",
               "\"to\" is missing"},
        Spoilt{"NoSources", "[{\"slot\": 0, \"peer\": 1}]", "[]", "/programs/0/1/combine",
               "at least one"},
        Spoilt{"Place", "{\"slot\": 0, \"peer\": 1}", "{\"memory\": 0}", "/programs/0/1/combine/0",
               "\"memory\""},
        Spoilt{"Block", "{\"slot\": 0, \"peer\": 1}", "{\"slot\": 1, \"peer\": 1}",
               "/programs/0/1/combine/0/slot", "from 0 to 0"},
        Spoilt{"NoPeer", "{\"slot\": 0, \"peer\": 1}", "{\"slot\": 0}", "/programs/0/1/combine/0",
               "\"peer\" is missing"},
        Spoilt{"NeedlessPeer", "{\"output\": 0}", "{\"output\": 0, \"peer\": 1}",
               "/programs/0/1/to/0/peer", "no such key"},
        Spoilt{"Complete", "[{\"output\": 0}]}", "[{\"output\": 0}], \"complete\": \"yes\"}",
               "/programs/0/1/complete", "\"yes\""}),
    [](const auto& spoilt) { return spoilt.param.name; });

TEST(PlanJson, DepthAndLengthHaveAnEnd) {
  const auto deep = parse_plan(std::string(1'000'000, '['));
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("nests more than"));
  const auto long_one = parse_plan(std::string(most_plan_bytes + 1, ' '));
  ASSERT_FALSE(long_one);
  EXPECT_THAT(long_one.error().message, HasSubstr("more than"));
  std::string large = document();
  large.replace(large.find("\"blocks\": 1"), 11, "\"blocks\": 65536");
  large.replace(large.find("\"ranks\": 2"), 10, "\"ranks\": 65536");
  const auto large_one = parse_plan(large);
  ASSERT_FALSE(large_one);
  EXPECT_THAT(large_one.error().message, HasSubstr("too many"));
}

TEST(PlanJson, AFileIsNamedInItsErrors) {
  const test::TemporaryDirectory directory;
  const auto missing = read_plan_file(directory.path("missing.json"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("missing.json"));
  const auto wrong = read_plan_file(directory.write("wrong.json", "{}"));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              AllOf(HasSubstr("wrong.json is no plan"), HasSubstr("gyre_plan")));
  const auto right = read_plan_file(directory.write("right.json", document()));
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_EQ(right->name, "oneshot");
}

}  // namespace
}  // namespace gyre::plan

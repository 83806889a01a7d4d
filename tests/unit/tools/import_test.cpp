// SPDX-License-Identifier: Apache-2.0
// Plans of other libraries: what was imported is proved right, and what has no equivalent is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/text_file.h"
#include "collectives/text.h"
#include "collectives/verifier.h"
#include "gyre_plan/foreign_plan.h"
#include "gyre_plan/msccl_xml.h"
#include "gyre_plan/mscclpp_json.h"

namespace gyre::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Read = Result<ForeignPlan> (*)(std::string_view text, int root);

std::string sample(const std::string& name) {
  const auto text = read_text_file(std::string(GYRE_TESTS_SAMPLES "/") + name, 1 << 20);
  EXPECT_TRUE(text) << text.error().message;
  return text ? *text : "";
}

Read reader_of(const std::string& name) {
  return name.ends_with(".xml") ? read_msccl_xml : read_mscclpp_json;
}

Result<plan::Plan> import(const std::string& name, const std::string& text) {
  const auto foreign = reader_of(name)(text, 0);
  if (!foreign) return Unexpected(foreign.error());
  return to_plan(*foreign);
}

struct Good {
  std::string file;
  plan::Collective collective;
  plan::Protocol protocol;
  int ranks, blocks;
};

class Import : public testing::TestWithParam<Good> {};

TEST_P(Import, TheVerifierAcceptsTheOutcome) {
  const Good& good = GetParam();
  const auto plan = import(good.file, sample(good.file));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->collective, good.collective);
  EXPECT_EQ(plan->protocol, good.protocol);
  EXPECT_EQ(plan->ranks, good.ranks);
  EXPECT_EQ(plan->blocks, good.blocks);
  const Status status = plan::verify(*plan, {.tiles = 3});
  EXPECT_TRUE(status) << status.error().message << plan::to_text(*plan);
  if (plan->slots > 1) {
    EXPECT_FALSE(plan::verify(*plan, {.tiles = 2, .slots = plan->slots - 1}));  // none too many
  }
}

INSTANTIATE_TEST_SUITE_P(
    Samples, Import,
    testing::Values(
        Good{"allreduce_ring.xml", plan::Collective::all_reduce, plan::Protocol::staged, 4, 4},
        Good{"allgather_direct.xml", plan::Collective::all_gather, plan::Protocol::staged, 3, 3},
        Good{"allreduce_pair.json", plan::Collective::all_reduce, plan::Protocol::direct, 2, 4},
        Good{"allreduce_packets.json", plan::Collective::all_reduce, plan::Protocol::staged, 2, 2}),
    [](const auto& good) {
      std::string name = good.param.file;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

TEST(Import, ARingStaysARing) {
  const auto plan = import("allreduce_ring.xml", sample("allreduce_ring.xml"));
  ASSERT_TRUE(plan);
  const std::string text = plan::to_text(*plan);
  EXPECT_THAT(text, HasSubstr("copy input[0] -> peer_slot(peer 1)[0]"));
  EXPECT_THAT(text, HasSubstr("combine slot(peer 3)[1] op input[1] -> output[1], "
                              "peer_slot(peer 1)[1], complete"));
}

struct Bad {
  std::string name, file, piece, by;
  std::string where, why;  // in the message
};

class ImportRefuses : public testing::TestWithParam<Bad> {};

TEST_P(ImportRefuses, WithTheReason) {
  const Bad& bad = GetParam();
  std::string text = sample(bad.file);
  const auto at = text.find(bad.piece);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, bad.piece.size(), bad.by);
  const auto plan = import(bad.file, text);
  ASSERT_FALSE(plan) << plan::to_text(*plan);
  EXPECT_THAT(plan.error().message, AllOf(HasSubstr(bad.where), HasSubstr(bad.why)));
}

INSTANTIATE_TEST_SUITE_P(
    Spoilt, ImportRefuses,
    testing::Values(
        Bad{"NoXml", "allreduce_ring.xml", "</algo>", "", "byte", "no XML"},
        Bad{"NoAlgo", "allreduce_ring.xml", "<algo", "<program><algo", "", "no XML"},
        Bad{"Collective", "allreduce_ring.xml", "\"allreduce\"", "\"custom\"", "custom",
            "does not have"},
        Bad{"Attribute", "allreduce_ring.xml", "redop=\"sum\"", "nthreads=\"2\"", "nthreads",
            "not known"},
        Bad{"GpuTwice", "allreduce_ring.xml", "<gpu id=\"1\"", "<gpu id=\"0\"", "gpu 0", "twice"},
        Bad{"StepType", "allreduce_ring.xml", "type=\"rrs\"", "type=\"xyz\"",
            "gpu 0, thread block 0, step 1", "\"xyz\""},
        Bad{"StepNumber", "allreduce_ring.xml", "s=\"3\"", "s=\"4\"",
            "gpu 0, thread block 0, step 3", "from 3 to 3"},
        Bad{"NoPeer", "allreduce_ring.xml", "recv=\"3\"", "recv=\"-1\"",
            "gpu 0, thread block 0, step 1", "no peer"},
        Bad{"Scratch", "allreduce_ring.xml", "type=\"s\" srcbuf=\"i\"", "type=\"s\" srcbuf=\"s\"",
            "gpu 0, thread block 0, step 0", "scratch"},
        // One contribution is left out: the verifier finds it.
        Bad{"WrongReduction", "allreduce_ring.xml", "type=\"rrs\"", "type=\"rcs\"", "", "wrong"},
        // A message that nobody sends.
        Bad{"Stuck", "allreduce_ring.xml", "type=\"s\"", "type=\"nop\"", "thread block 0, step",
            "waits for a message"},
        Bad{"NeedsItself", "allgather_direct.xml", "depid=\"0\" deps=\"0\"",
            "depid=\"1\" deps=\"1\"", "gpu 0, thread block 1, step 0", "waits for step 1"},
        Bad{"ManyChunks", "allgather_direct.xml", "o_chunks=\"3\"", "o_chunks=\"6\"", "gpu 0",
            "a section is one chunk"},
        Bad{"WritesInput", "allgather_direct.xml", "dstbuf=\"o\" dstoff=\"0\"",
            "dstbuf=\"i\" dstoff=\"0\"", "gpu 0, thread block 0, step 0", "nobody writes an input"},
        Bad{"NoJson", "allreduce_pair.json", "\"gpus\"", "gpus", "line", "no JSON"},
        Bad{"NoName", "allreduce_pair.json", "\"name\"", "\"nom\"", "the top",
            "\"name\" is missing"},
        Bad{"Protocol", "allreduce_pair.json", "\"Simple\"", "\"Complex\"", "/protocol", "Complex"},
        Bad{"Operation", "allreduce_pair.json", "\"rres\"", "\"glres\"",
            "/gpus/0/threadblocks/0/ops/3", "no equivalent"},
        Bad{"Switch", "allreduce_pair.json", "\"connected_to\"", "\"rank_groups\"", "/gpus/0",
            "\"connected_to\" is missing"},
        Bad{"RemoteBuffer", "allreduce_pair.json", "\"buffer_id\": 0", "\"buffer_id\": 1",
            "/src_buff/1/buffer_id", "from 0 to 0"},
        Bad{"NoSignal", "allreduce_pair.json", "\"signal\"", "\"nop\"", "thread block 0",
            "waits for a signal"},
        Bad{"SignalsAmongPackets", "allreduce_packets.json", "\"name\": \"ppkt\"",
            "\"name\": \"signal\", \"channel_ids\": [0]", "/ops/0", "packets"},
        Bad{"SizesDiffer", "allreduce_pair.json", "\"size\": 2", "\"size\": 3", "/src_buff/1",
            "sizes differ"}),
    [](const auto& bad) { return bad.param.name; });

}  // namespace
}  // namespace gyre::tool

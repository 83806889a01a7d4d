// SPDX-License-Identifier: Apache-2.0
#include "collectives/text.h"

#include <gtest/gtest.h>

#include "collectives/all_reduce.h"
#include "collectives/steps.h"

namespace gyre::plan {
namespace {

TEST(PlanText, Steps) {
  EXPECT_EQ(to_text(build::combine({build::input(3)}, {build::peer_slot(1, 3)})),
            "copy input[3] -> peer_slot(peer 1)[3]");
  EXPECT_EQ(to_text(build::complete({build::slot(2, 0), build::input(0)},
                                    {build::output(0), build::peer_output(1, 0)})),
            "combine slot(peer 2)[0] op input[0] -> output[0], peer_output(peer 1)[0], complete");
  EXPECT_EQ(to_text(build::combine({build::scratch(2, 5)}, {build::output(5)})),
            "copy scratch(2)[5] -> output[5]");
  EXPECT_EQ(to_text(build::wait(4)), "wait peer 4");
  EXPECT_EQ(to_text(build::release(4)), "release peer 4");
  EXPECT_EQ(to_text(build::signal(4)), "signal peer 4");
  EXPECT_EQ(to_text(build::await(4)), "await peer 4");
}

TEST(PlanText, APlan) {
  EXPECT_EQ(to_text(make_all_reduce(Algorithm::one_shot, Protocol::direct, 2)),
            "AllReduce oneshot/direct: 2 ranks, 1 blocks a tile, 1 slots a FIFO, "
            "must not run in place\n"
            "rank 0\n"
            "    0  combine input[0] op peer_input(peer 1)[0] -> output[0], complete\n"
            "    1  signal peer 1\n"
            "    2  await peer 1\n"
            "rank 1\n"
            "    0  combine peer_input(peer 0)[0] op input[0] -> output[0], complete\n"
            "    1  signal peer 0\n"
            "    2  await peer 0\n");
}

TEST(PlanText, NamesAreReadBackAsTheyAreWritten) {
  for (const Algorithm algorithm : all_algorithms) {
    EXPECT_EQ(parse_algorithm(name_of(algorithm)), algorithm);
  }
  for (const Protocol protocol : {Protocol::flag_in_line, Protocol::staged, Protocol::direct}) {
    EXPECT_EQ(parse_protocol(name_of(protocol)), protocol);
  }
  EXPECT_EQ(parse_algorithm("trees"), std::nullopt);
  EXPECT_EQ(parse_protocol(""), std::nullopt);
}

}  // namespace
}  // namespace gyre::plan

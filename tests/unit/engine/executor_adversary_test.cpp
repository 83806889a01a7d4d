// SPDX-License-Identifier: Apache-2.0
// Every plan over a transport that delays and reorders whatever the contract lets it.
#include "unit/engine/all_reduce_jobs.h"
#include "unit/support/adversarial_network.h"
#include "unit/support/local_cluster.h"

namespace gyre::engine {
namespace {

class ExecutorOverAdversary : public testing::TestWithParam<plan::AllReduceCase> {};

TEST_P(ExecutorOverAdversary, ResultsDoNotDependOnWhenThingsArrive) {
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    for (const int slots : {2, 3}) {
      const transport::Shape shape = shape_for_jobs(slots);
      auto jobs = jobs_for(GetParam(), ranks, ranks <= 3 ? 60 : 15,
                           static_cast<std::uint32_t>(ranks * 100 + slots));
      const test::AdversarialNetwork network(ranks, shape, static_cast<unsigned>(ranks));
      test::on_each_rank(ranks, [&](int rank) {
        run_jobs(rank, jobs, network.connections(rank), shape, nullptr,
                 WaitPolicy::shared_processors());
      });
      for (const AllReduceJob& job : jobs) {
        ASSERT_NO_FATAL_FAILURE(job.expect_right());
      }
      for (const std::string& violation : network.violations()) {
        ADD_FAILURE() << violation << ": " << ranks << " ranks";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, ExecutorOverAdversary, testing::ValuesIn(runnable_cases()),
                         plan::case_name);

}  // namespace
}  // namespace gyre::engine

// SPDX-License-Identifier: Apache-2.0
// The ways of being launched, one function each; find_launch tries them in order.
#pragma once

#include "bootstrap/launcher.h"

namespace gyre::bootstrap {

Result<Launch> launch_by_comm_id(const LaunchRequest& request);
Result<Launch> launch_by_pmix(const LaunchRequest& request);
Result<Launch> launch_by_pmi1(const LaunchRequest& request);
Result<Launch> launch_by_torchrun(const LaunchRequest& request);
// A process that nobody launched: rank 0 of 1, without any network.
Result<Launch> launch_alone();

// Integer in a variable; an error names variable, value and range.
Result<int> number_in(const Environment& environment, const std::string& name, int lowest,
                      int highest);

// As launchers name it; -1 when none does.
int local_rank_in(const Environment& environment);

// Rank 0's part of every method that passes an id on: a root, on loopback when all ranks are here.
Result<std::unique_ptr<Root>> make_root(const LaunchRequest& request, bool this_host_only);

}  // namespace gyre::bootstrap

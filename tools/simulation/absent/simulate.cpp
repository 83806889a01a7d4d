// SPDX-License-Identifier: Apache-2.0
// Instead of the simulation, where SimGrid was not there when Gyre was built.
#include "simulation/experiment.h"

namespace gyre::simulation {

Result<Report> simulate(const Experiment& /*experiment*/) {
  return fail(
      Code::not_supported,
      "This program was built without SimGrid, so it can estimate but not simulate. Install "
      "it (Debian: apt-get install libsimgrid-dev), then configure and build again.");
}

}  // namespace gyre::simulation

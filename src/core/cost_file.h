// SPDX-License-Identifier: Apache-2.0
// What links cost, kept from one job to the next: a JSON file with an entry for each shape of machine
// and job.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "collectives/cost_model.h"

namespace gyre::core {

// "AMD EPYC ..., 2 CPUs, 4 ranks": what the costs depend on.
[[nodiscard]] std::string cost_key(int ranks, std::size_t cpus);

// Where GYRE_COST_FILE says, else costs.json in gyre's folder of the user's cache ($XDG_CACHE_HOME,
// or .cache in $HOME); empty where there is none.
[[nodiscard]] std::string cost_path(const std::string& setting);

// Nothing where there is no such file or entry, or where it is not what this version writes.
[[nodiscard]] std::optional<plan::LinkCosts> read_costs(const std::string& path,
                                                        const std::string& key);
// Adds or replaces the entry. Several processes may do so at a time: the last one wins, and readers
// see one whole file or the other.
Status write_costs(const std::string& path, const std::string& key, const plan::LinkCosts& costs);

}  // namespace gyre::core

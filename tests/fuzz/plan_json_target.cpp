// SPDX-License-Identifier: Apache-2.0
#include "collectives/plan_json.h"

#include "fuzz/target.h"

namespace gyre::fuzz {

void consume(net::ByteView bytes) {
  const auto plan = plan::parse_plan(text_of(bytes));
  if (!plan) {
    require(plan.error().code == Code::invalid_argument && !plan.error().message.empty());
    return;
  }
  const auto again = plan::parse_plan(plan::to_json(*plan));
  require(again.has_value() && again->programs == plan->programs && again->name == plan->name);
}

std::vector<net::Bytes> seeds() {
  return {bytes_of(R"({"gyre_plan": 1, "name": "pair", "collective": "AllReduce",
 "protocol": "staged", "ranks": 2, "blocks": 1, "slots": 1, "in_place_safe": true, "programs": [
 [{"combine": [{"input": 0}], "to": [{"peer_slot": 0, "peer": 1}]}, {"wait": 1},
  {"combine": [{"input": 0}, {"slot": 0, "peer": 1}], "to": [{"output": 0}], "complete": true},
  {"release": 1}],
 [{"combine": [{"input": 0}], "to": [{"peer_slot": 0, "peer": 0}]}, {"wait": 0},
  {"combine": [{"slot": 0, "peer": 0}, {"input": 0}], "to": [{"output": 0}], "complete": true},
  {"release": 0}]]})"),
          bytes_of(R"({"gyre_plan": 1, "name": "d", "collective": "Reduce", "protocol": "direct",
 "ranks": 2, "root": 0, "blocks": 2, "slots": 1, "in_place_safe": false, "programs": [
 [{"await": 1}, {"combine": [{"peer_input": 1, "peer": 1}], "to": [{"output": 1}]}],
 [{"signal": 0}]]})")};
}

}  // namespace gyre::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "core/tuner.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/core.h>

#include "collectives/geometry.h"
#include "core/fixed_text.h"

namespace gyre::core {
namespace {

Unexpected unknown(std::string_view what, std::string_view name) {
  return fail(Code::invalid_usage,
              fmt::format("The tuner of this communicator chose the {} \"{}\", which there is not. "
                          "`gyre-plan list` shows what there is.",
                          what, name));
}

gyreTunerChoice_t describe(const plan::Choice& choice) {
  gyreTunerChoice_t described{};
  described.size = sizeof(described);
  described.version = GYRE_VERSION_CODE;
  copy_text(described.algorithm, plan::name_of(choice.algorithm));
  copy_text(described.protocol, plan::name_of(choice.protocol));
  described.channels = choice.channels;
  described.chunkBytes = choice.slot_bytes == plan::unbounded_slot ? 0 : choice.slot_bytes;
  return described;
}

}  // namespace

Result<bool> consult(const Tuner& tuner, const Call& call, const plan::Choice& choice,
                     plan::ChoiceInput& input) {
  const std::string collective(plan::name_of(call.collective));
  const gyreTunerCall_t question{.size = sizeof(gyreTunerCall_t),
                                 .version = GYRE_VERSION_CODE,
                                 .collective = collective.c_str(),
                                 .count = call.count,
                                 .datatype = static_cast<gyreDataType_t>(call.type),
                                 .root = call.root,
                                 .nranks = input.ranks,
                                 .mapped = input.direct_possible ? 1 : 0};
  const gyreTunerChoice_t before = describe(choice);
  gyreTunerChoice_t wanted = before;
  tuner.function(tuner.context, &question, &wanted);
  if (text_in(wanted.algorithm) != text_in(before.algorithm)) {
    input.algorithm = plan::parse_algorithm(text_in(wanted.algorithm));
    if (!input.algorithm) {
      return unknown("algorithm", text_in(wanted.algorithm));
    }
  }
  if (text_in(wanted.protocol) != text_in(before.protocol)) {
    input.protocol = plan::parse_protocol(text_in(wanted.protocol));
    if (!input.protocol) {
      return unknown("protocol", text_in(wanted.protocol));
    }
    input.algorithm = plan::parse_algorithm(text_in(wanted.algorithm));
  }
  if (wanted.channels != before.channels) {
    input.channels = std::max(wanted.channels, 1);
  }
  if (wanted.chunkBytes != before.chunkBytes) {
    input.chunk_bytes = wanted.chunkBytes;
  }
  return std::memcmp(&before, &wanted, sizeof(before)) != 0;
}

}  // namespace gyre::core

// SPDX-License-Identifier: Apache-2.0
#include "support/checks.h"

#include "support/job.h"

namespace gyre::test {

bool Checks::that(bool holds, std::string_view what, std::string_view detail) {
  if (!holds) {
    ++failures_;
    say("does not hold: " + std::string(what) + (detail.empty() ? "" : ": ") + std::string(detail));
  }
  return holds;
}

bool Checks::succeeded(gyreResult_t result, std::string_view what) {
  return that(result == gyreSuccess, std::string(what) + " succeeds",
              result == gyreSuccess ? "" : gyreGetLastError(nullptr));
}

bool Checks::refused(gyreResult_t result, gyreResult_t expected, std::string_view what,
                     std::initializer_list<std::string_view> words) {
  const std::string text = result == gyreSuccess ? "" : gyreGetLastError(nullptr);
  bool holds = that(result == expected,
                    std::string(what) + " gives \"" + gyreGetErrorString(expected) + "\"",
                    std::string(gyreGetErrorString(result)) + ": " + text);
  for (const std::string_view word : words) {
    holds = that(text.find(word) != std::string::npos,
                 "the text of " + std::string(what) + " contains \"" + std::string(word) + "\"",
                 text) &&
            holds;
  }
  return holds;
}

RankComm::RankComm(Checks& checks, const gyreConfig_t* config) {
  gyreComm_t made = nullptr;
  if (checks.succeeded(gyreCommInitEnvironment(&made, config), "gyreCommInitEnvironment")) {
    comm_ = made;
  }
}

RankComm::~RankComm() {
  if (comm_ != nullptr) {
    static_cast<void>(gyreCommDestroy(comm_));
  }
}

gyreUniqueId share_new_id(Checks& checks, gyreComm_t comm) {
  gyreUniqueId id{};
  if (own_rank() == 0) {
    checks.succeeded(gyreGetUniqueId(&id), "gyreGetUniqueId");
  }
  checks.succeeded(gyreAllReduce(id.internal, id.internal, sizeof(id.internal), gyreUint8, gyreBor,
                                 comm, nullptr),
                   "handing round a unique id");
  return id;
}

}  // namespace gyre::test

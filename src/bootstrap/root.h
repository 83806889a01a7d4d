// SPDX-License-Identifier: Apache-2.0
// Where the ranks of one unique id meet. Runs on the event loop of the process that made the id:
// takes the check-in of every rank and, when all are there, tells each whom to dial. Whatever is
// wrong (a rank twice, different sizes, different library versions, a rank that never comes, an id
// used again) is told to every rank that has checked in and to every one that comes later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"
#include "bootstrap/network.h"
#include "bootstrap/unique_id.h"
#include "net/event_loop.h"

namespace gyre::bootstrap {

class Root {
 public:
  // Makes an id of its own and listens for its ranks.
  static Result<std::unique_ptr<Root>> create(net::EventLoop& loop, const Network& network,
                                              std::uint32_t library_version);
  // Listens at the address that `id` names (any address of this host when it names none of ours).
  static Result<std::unique_ptr<Root>> serve(net::EventLoop& loop, const UniqueId& id,
                                             std::uint32_t library_version);
  // Ranks that still wait see the connection close. Keep the root until its ranks have left if
  // late comers are to be told why they are refused.
  ~Root();
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  [[nodiscard]] const UniqueId& id() const;
  // All ranks have joined (or the id has failed): nobody needs this root but late comers.
  [[nodiscard]] bool finished() const;
  // Connections dropped because they did not prove that they know the secret.
  [[nodiscard]] std::uint64_t strangers() const;

 private:
  struct State;
  explicit Root(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace gyre::bootstrap

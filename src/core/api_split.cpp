// SPDX-License-Identifier: Apache-2.0
// gyre.h: a communicator from a part of another one.
#include <algorithm>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "core/api.h"
#include "core/init.h"

namespace gyre::core {
namespace {

struct Wish {
  std::int32_t color = GYRE_SPLIT_NOCOLOR;
  std::int32_t key = 0;
};

// Of the first rank of each new communicator; the others' are not looked at.
struct Invitation {
  std::uint64_t made = 0;
  gyreUniqueId id{};
};

template <typename T>
Result<std::vector<T>> gather(Communicator& parent, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(parent.ranks()));
  const Status status =
      parent.collectives().run_request({.collective = plan::Collective::all_gather,
                                        .send = &mine,
                                        .receive = all.data(),
                                        .count = sizeof(T),
                                        .type = gyreUint8});
  if (!status) {
    return Unexpected(status.error());
  }
  return all;
}

// The ranks of `parent` that have the color, in the order of their keys, then of their ranks.
std::vector<int> members(const std::vector<Wish>& wishes, std::int32_t color) {
  std::vector<int> found;
  for (int rank = 0; rank < static_cast<int>(wishes.size()); ++rank) {
    if (wishes[static_cast<std::size_t>(rank)].color == color) {
      found.push_back(rank);
    }
  }
  std::ranges::stable_sort(found, {},
                           [&](int rank) { return wishes[static_cast<std::size_t>(rank)].key; });
  return found;
}

Status split(Communicator& parent, const Wish& wish, gyreComm_t* newcomm,
             CommunicatorOptions options) {
  Process& process = *Process::existing();
  const auto wishes = gather(parent, wish);
  if (!wishes) {
    return Unexpected(wishes.error());
  }
  const bool takes_part = wish.color != GYRE_SPLIT_NOCOLOR;
  const std::vector<int> ranks = takes_part ? members(*wishes, wish.color) : std::vector<int>();
  Result<Invitation> mine = Invitation{};
  if (takes_part && ranks.front() == parent.rank()) {
    mine = make_unique_id(process).map([](const gyreUniqueId& id) { return Invitation{1, id}; });
  }
  // The others wait for the invitation, so they are told even if there is none.
  const auto all = gather(parent, mine ? *mine : Invitation{});
  if (!all) {
    return Unexpected(all.error());
  }
  if (!mine) {
    return Unexpected(mine.error());
  }
  if (!takes_part) {
    return {};
  }
  const Invitation& chosen = (*all)[static_cast<std::size_t>(ranks.front())];
  if (chosen.made == 0) {
    return fail(Code::remote_error,
                fmt::format("Rank {} could not open a listener for the new communicator of color "
                            "{}: its own error says why.",
                            ranks.front(), wish.color));
  }
  const auto id = bootstrap::UniqueId::decode(std::as_bytes(std::span(chosen.id.internal)));
  if (!id) {
    return Unexpected(id.error());
  }
  options.id = *id;
  options.ranks = static_cast<int>(ranks.size());
  options.rank = static_cast<int>(std::ranges::find(ranks, parent.rank()) - ranks.begin());
  return connect(process, options, newcomm);
}

}  // namespace
}  // namespace gyre::core

using namespace gyre::core;
using gyre::Status;

extern "C" {

gyreResult_t gyreCommSplit(gyreComm_t comm, int color, int key, gyreComm_t* newcomm,
                           const gyreConfig_t* config) {
  return beside_streams(comm, [&](Communicator& found) -> Status {
    if (newcomm == nullptr) {
      return null_argument("newcomm");
    }
    if (color < 0 && color != GYRE_SPLIT_NOCOLOR) {
      return gyre::fail(gyre::Code::invalid_argument,
                        fmt::format("color is {}: it must not be negative, but for "
                                    "GYRE_SPLIT_NOCOLOR ({}), which takes no part.",
                                    color, GYRE_SPLIT_NOCOLOR));
    }
    const auto options = options_from(config, found.options());
    if (!options) {
      return gyre::Unexpected(options.error());
    }
    *newcomm = nullptr;
    return run_or_queue(
        found, comm, nullptr,
        [wish = Wish{color, key}, newcomm, options = *options](Communicator& parent) {
          return split(parent, wish, newcomm, options);
        });
  });
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// The messages of the bootstrap (docs/wire-format.md): to and from payload bytes, nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/address.h"
#include "net/bytes.h"
#include "net/frame.h"

namespace gyre::bootstrap {

enum class Message : net::FrameType {
  check_in = 1,       // rank to root
  welcome = 2,        // root to rank: all are there
  refusal = 3,        // root to rank: an error
  introduction = 16,  // first on a control link, both ways
  gather = 17,        // a step of an all-gather or barrier
  failure = 18,       // somebody failed: forwarded to everybody
  goodbye = 19,       // the sender leaves in good order
};

// A sane bound, so that a mangled number does not become a long loop.
inline constexpr int max_ranks = 1 << 20;

// Largest payloads that root and ranks accept from each other, in bytes.
net::FrameLimits limits_at_root();
net::FrameLimits limits_at_rank();
net::FrameLimits limits_on_links();

// A process, for messages.
struct Person {
  std::uint64_t pid = 0;
  std::string host;
  static Person self();
  void encode(net::ByteWriter& writer) const;
  static Person decode(net::ByteReader& reader);
  [[nodiscard]] std::string to_string() const;  // "pid 1234 on host h"
};
// "rank 2 (pid 1234 on host h)"
std::string name_of(int rank, const Person& person);

struct CheckIn {
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::chrono::milliseconds remaining{};  // until this rank gives up
  std::chrono::milliseconds timeout{};    // of which `remaining` is what is left
  net::Address address;                   // where its neighbours dial it
  std::string network;                    // equal for processes that reach each other by loopback
  Person person;
  [[nodiscard]] net::Bytes encode() const;
  static std::optional<CheckIn> decode(net::ByteView payload);
};

// Identity of this process's network namespace on this boot of this host.
std::string own_network();

struct Welcome {
  struct Neighbour {
    std::int32_t rank = 0;
    net::Address address;
  };
  std::vector<Neighbour> dial;
  [[nodiscard]] net::Bytes encode() const;
  static std::optional<Welcome> decode(net::ByteView payload);
};

struct Refusal {
  Error error;
  [[nodiscard]] net::Bytes encode() const;
  static std::optional<Refusal> decode(net::ByteView payload);
};

struct GatherStep {
  enum class Kind : std::uint8_t { all_gather = 1, barrier = 2 };
  std::uint64_t sequence = 0;  // of the call on this channel
  std::uint8_t round = 0;
  Kind kind = Kind::all_gather;
  std::vector<net::Bytes> blocks;  // of the sender and the ranks after it
  [[nodiscard]] net::Bytes encode() const;
  static std::optional<GatherStep> decode(net::ByteView payload);
};

struct FailureNews {
  std::int32_t culprit = -1;
  Error error;
  [[nodiscard]] net::Bytes encode() const;
  static std::optional<FailureNews> decode(net::ByteView payload);
};

// "rank 2", "ranks 2, 5 and 7", "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 20 more"
std::string list_ranks(const std::vector<int>& ranks);
// "5 s", "0.25 s"
std::string seconds_text(std::chrono::milliseconds duration);
// First letter in upper case, for the beginning of a sentence.
std::string capitalised(std::string text);

}  // namespace gyre::bootstrap

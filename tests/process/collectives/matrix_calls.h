// SPDX-License-Identifier: Apache-2.0
// The collectives of the matrix as calls: which buffers they have, and whose elements come out.
#pragma once

#include <gyre/gyre.h>

#include <array>
#include <cstddef>
#include <vector>

#include "support/element.h"
#include "support/job.h"
#include "support/matrix_space.h"

namespace gyre::test {

// Sections of `count` elements that a buffer has on a rank.
enum class Part : std::uint8_t { none, one, all };

struct Arguments {
  const void* send;
  void* receive;
  std::size_t count;
  gyreDataType_t type;
  gyreRedOp_t op;
  int root;
  gyreComm_t comm;
};

// An element of an output: element of section `section` of the input of `rank`. Of reductions over
// the same section of all inputs, only the section counts.
struct Origin {
  int rank;
  std::size_t section;
};

struct MatrixCall {
  Part send_at_root, send, receive_at_root, receive;
  gyreResult_t (*call)(const Arguments&);
  Origin (*origin)(int rank, int root, std::size_t section);
};

// Sections of one length, one behind the other.
inline gyreResult_t all_to_all_v(const Arguments& a) {
  const std::vector<std::size_t> counts(static_cast<std::size_t>(world_size()), a.count);
  std::vector<std::size_t> displacements;
  for (std::size_t i = 0; i < counts.size(); ++i) displacements.push_back(i * a.count);
  return gyreAllToAllV(a.send, counts.data(), displacements.data(), a.receive, counts.data(),
                       displacements.data(), a.type, a.comm, nullptr);
}

// To and from every rank, in a group.
inline gyreResult_t send_and_receive(const Arguments& a) {
  const std::size_t bytes = a.count * size_of(a.type);
  gyreResult_t result = gyreGroupStart();
  for (int i = 0; i < world_size() && result == gyreSuccess; ++i) {
    const auto peer = static_cast<std::size_t>(i);
    result = gyreSend(static_cast<const std::byte*>(a.send) + peer * bytes, a.count, a.type, i,
                      a.comm, nullptr);
    if (result != gyreSuccess) break;
    result = gyreRecv(static_cast<std::byte*>(a.receive) + peer * bytes, a.count, a.type, i, a.comm,
                      nullptr);
  }
  const gyreResult_t ended = gyreGroupEnd();
  return result != gyreSuccess ? result : ended;
}

// In the order of MatrixCollective.
inline constexpr std::array<MatrixCall, 10> matrix_calls = {{
    {Part::one, Part::one, Part::one, Part::one,
     [](const Arguments& a) {
       return gyreAllReduce(a.send, a.receive, a.count, a.type, a.op, a.comm, nullptr);
     },
     [](int, int, std::size_t) {
       return Origin{0, 0};
     }},
    {Part::one, Part::one, Part::one, Part::none,
     [](const Arguments& a) {
       return gyreReduce(a.send, a.receive, a.count, a.type, a.op, a.root, a.comm, nullptr);
     },
     [](int, int, std::size_t) {
       return Origin{0, 0};
     }},
    {Part::all, Part::all, Part::one, Part::one,
     [](const Arguments& a) {
       return gyreReduceScatter(a.send, a.receive, a.count, a.type, a.op, a.comm, nullptr);
     },
     [](int rank, int, std::size_t) {
       return Origin{0, static_cast<std::size_t>(rank)};
     }},
    {Part::one, Part::one, Part::all, Part::all,
     [](const Arguments& a) {
       return gyreAllGather(a.send, a.receive, a.count, a.type, a.comm, nullptr);
     },
     [](int, int, std::size_t section) {
       return Origin{static_cast<int>(section), 0};
     }},
    {Part::one, Part::none, Part::one, Part::one,
     [](const Arguments& a) {
       return gyreBroadcast(a.send, a.receive, a.count, a.type, a.root, a.comm, nullptr);
     },
     [](int, int root, std::size_t) {
       return Origin{root, 0};
     }},
    {Part::one, Part::one, Part::all, Part::none,
     [](const Arguments& a) {
       return gyreGather(a.send, a.receive, a.count, a.type, a.root, a.comm, nullptr);
     },
     [](int, int, std::size_t section) {
       return Origin{static_cast<int>(section), 0};
     }},
    {Part::all, Part::none, Part::one, Part::one,
     [](const Arguments& a) {
       return gyreScatter(a.send, a.receive, a.count, a.type, a.root, a.comm, nullptr);
     },
     [](int rank, int root, std::size_t) {
       return Origin{root, static_cast<std::size_t>(rank)};
     }},
    {Part::all, Part::all, Part::all, Part::all,
     [](const Arguments& a) {
       return gyreAllToAll(a.send, a.receive, a.count, a.type, a.comm, nullptr);
     },
     [](int rank, int, std::size_t section) {
       return Origin{static_cast<int>(section), static_cast<std::size_t>(rank)};
     }},
    {Part::all, Part::all, Part::all, Part::all, all_to_all_v,
     [](int rank, int, std::size_t section) {
       return Origin{static_cast<int>(section), static_cast<std::size_t>(rank)};
     }},
    {Part::all, Part::all, Part::all, Part::all, send_and_receive,
     [](int rank, int, std::size_t section) {
       return Origin{static_cast<int>(section), static_cast<std::size_t>(rank)};
     }},
}};

}  // namespace gyre::test

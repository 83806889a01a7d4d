// SPDX-License-Identifier: Apache-2.0
// The collectives of the matrix as calls: which buffers they have, and whose elements come out.
#pragma once

#include <gyre/gyre.h>

#include <array>
#include <cstddef>

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

// In the order of MatrixCollective.
inline constexpr std::array<MatrixCall, 8> matrix_calls = {{
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
}};

}  // namespace gyre::test

// SPDX-License-Identifier: Apache-2.0
// The collectives as the benchmark knows them: how their buffers look, how nccl-tests counts their
// bytes. Which library carries them out is library.h's matter.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace perf {

enum class CollectiveKind {
  all_reduce,
  reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  gather,
  scatter,
  alltoall,
  alltoallv,
  sendrecv,
  barrier
};

struct Traits {
  std::string_view name;   // of the program, before "_perf"
  std::string_view title;  // in sentences
  bool reduces = false;
  bool has_root = false;
  bool has_in_place = true;
  // Whether the buffer has a section for each rank. For a root's only, it is the root's that has.
  bool send_sections = false;
  bool receive_sections = false;
};

[[nodiscard]] const Traits& traits_of(CollectiveKind kind);
// "all_gather", "allgather" and "AllGather" are the same. Throws Failure that names all.
[[nodiscard]] CollectiveKind parse_collective(std::string_view name);

// Bytes over the network per byte of algorithm bandwidth, as nccl-tests counts them.
[[nodiscard]] double bus_factor(CollectiveKind kind, int ranks);
// The larger buffer in units of the call's count: its size is what the table calls size.
[[nodiscard]] std::size_t sections_of(CollectiveKind kind, int ranks);

// Elements that `rank` hands in and gets; 0 where its buffer is ignored.
struct Extent {
  std::size_t send = 0;
  std::size_t receive = 0;
};
[[nodiscard]] Extent extent_of(CollectiveKind kind, int rank, int ranks, int root,
                               std::size_t count);

// Counts and displacements of one rank's AllToAllV, by peer, in elements.
struct Sections {
  std::vector<std::size_t> send_counts;
  std::vector<std::size_t> send_offsets;
  std::vector<std::size_t> receive_counts;
  std::vector<std::size_t> receive_offsets;
};
// As many elements in all as an AllToAll of `count`, in unequal sections: to the k-th next rank go
// about 2 * count * k / ranks, and `count` or a little more stay. The bus factor is that of
// AllToAll. (Two ranks leave no choice: their sections are equal.)
[[nodiscard]] Sections alltoallv_sections(int rank, int ranks, std::size_t count);

}  // namespace perf

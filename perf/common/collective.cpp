// SPDX-License-Identifier: Apache-2.0
#include "perf/common/collective.h"

#include <array>
#include <cctype>
#include <string>

#include "perf/common/failure.h"

namespace perf {
namespace {

constexpr std::array<Traits, 11> table{
    {{.name = "all_reduce", .title = "AllReduce", .reduces = true},
     {.name = "reduce", .title = "Reduce", .reduces = true, .has_root = true},
     {.name = "reduce_scatter", .title = "ReduceScatter", .reduces = true, .send_sections = true},
     {.name = "all_gather", .title = "AllGather", .receive_sections = true},
     {.name = "broadcast", .title = "Broadcast", .has_root = true},
     {.name = "gather", .title = "Gather", .has_root = true, .receive_sections = true},
     {.name = "scatter", .title = "Scatter", .has_root = true, .send_sections = true},
     {.name = "alltoall", .title = "AllToAll", .send_sections = true, .receive_sections = true},
     {.name = "alltoallv",
      .title = "AllToAllV",
      .has_in_place = false,
      .send_sections = true,
      .receive_sections = true},
     {.name = "sendrecv", .title = "Send/Recv", .has_in_place = false},
     {.name = "barrier", .title = "Barrier", .has_in_place = false}}};

std::string plain(std::string_view name) {
  std::string letters;
  for (const char letter : name) {
    if (letter == '_' || letter == '-') continue;
    letters += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return letters;
}

std::size_t section_count(int from, int to, int ranks, std::size_t count) {
  const auto all = static_cast<std::size_t>(ranks);
  const auto part = [&](std::size_t distance) { return 2 * count * distance / all; };
  const auto distance = static_cast<std::size_t>((to - from + ranks) % ranks);
  if (distance > 0) return part(distance);
  std::size_t rest = all * count;
  for (std::size_t other = 1; other < all; ++other) rest -= part(other);
  return rest;
}

}  // namespace

const Traits& traits_of(CollectiveKind kind) {
  return table[static_cast<std::size_t>(kind)];
}

CollectiveKind parse_collective(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (plain(name) == plain(table[i].name)) return static_cast<CollectiveKind>(i);
    known += " " + std::string(table[i].name);
  }
  throw Failure("Unknown collective \"" + std::string(name) + "\". Known are:" + known + ".");
}

double bus_factor(CollectiveKind kind, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (kind == CollectiveKind::all_reduce) return 2.0 * others;
  const Traits& traits = traits_of(kind);
  return traits.send_sections || traits.receive_sections ? others : 1.0;
}

std::size_t sections_of(CollectiveKind kind, int ranks) {
  const Traits& traits = traits_of(kind);
  return traits.send_sections || traits.receive_sections ? static_cast<std::size_t>(ranks) : 1;
}

Extent extent_of(CollectiveKind kind, int rank, int ranks, int root, std::size_t count) {
  if (kind == CollectiveKind::barrier) return {};
  const Traits& traits = traits_of(kind);
  const auto all = static_cast<std::size_t>(ranks);
  Extent extent{traits.send_sections ? all * count : count,
                traits.receive_sections ? all * count : count};
  if (!traits.has_root || rank == root) return extent;
  const bool collects = kind == CollectiveKind::reduce || kind == CollectiveKind::gather;
  (collects ? extent.receive : extent.send) = 0;
  return extent;
}

Sections alltoallv_sections(int rank, int ranks, std::size_t count) {
  Sections sections;
  std::size_t sent = 0;
  std::size_t received = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    sections.send_offsets.push_back(sent);
    sections.send_counts.push_back(section_count(rank, peer, ranks, count));
    sent += sections.send_counts.back();
    sections.receive_offsets.push_back(received);
    sections.receive_counts.push_back(section_count(peer, rank, ranks, count));
    received += sections.receive_counts.back();
  }
  return sections;
}

}  // namespace perf

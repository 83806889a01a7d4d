// SPDX-License-Identifier: Apache-2.0
#include "perf/common/expectation.h"

#include <cstring>

#include "perf/common/inputs.h"

namespace perf {
namespace {

// What is only moved may be any value of the type: maxima are exact, so their inputs are.
Operation operation_of(CollectiveKind kind, const Call& call) {
  return traits_of(kind).reduces ? call.op : Operation::max;
}

InputKey key_of(const CheckedRun& run, const Call& call) {
  return {call.type, operation_of(run.kind, call), run.ranks, run.iteration};
}

// Section `from` of the result comes from rank `from`, out of its section `section`.
std::vector<Piece> one_from_each(std::size_t count, int ranks, std::size_t section) {
  std::vector<Piece> pieces;
  for (int from = 0; from < ranks; ++from) {
    pieces.push_back({static_cast<std::size_t>(from) * count, count, from, section * count});
  }
  return pieces;
}

std::vector<Piece> unequal_from_each(std::size_t count, int rank, int ranks) {
  const auto own = static_cast<std::size_t>(rank);
  const Sections mine = alltoallv_sections(rank, ranks, count);
  std::vector<Piece> pieces;
  for (int from = 0; from < ranks; ++from) {
    const auto peer = static_cast<std::size_t>(from);
    const Sections theirs = alltoallv_sections(from, ranks, count);
    pieces.push_back(
        {mine.receive_offsets[peer], mine.receive_counts[peer], from, theirs.send_offsets[own]});
  }
  return pieces;
}

}  // namespace

std::vector<Piece> expected_pieces(CollectiveKind kind, const Call& call, int rank, int ranks) {
  const auto own = static_cast<std::size_t>(rank);
  const bool at_root = rank == call.root;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {{0, call.count, Piece::everyone, 0}};
    case CollectiveKind::reduce:
      if (!at_root) return {};
      return {{0, call.count, Piece::everyone, 0}};
    case CollectiveKind::reduce_scatter:
      return {{0, call.count, Piece::everyone, own * call.count}};
    case CollectiveKind::all_gather:
      return one_from_each(call.count, ranks, 0);
    case CollectiveKind::gather:
      if (!at_root) return {};
      return one_from_each(call.count, ranks, 0);
    case CollectiveKind::broadcast:
      return {{0, call.count, call.root, 0}};
    case CollectiveKind::scatter:
      return {{0, call.count, call.root, own * call.count}};
    case CollectiveKind::alltoall:
      return one_from_each(call.count, ranks, own);
    case CollectiveKind::alltoallv:
      return unequal_from_each(call.count, rank, ranks);
    case CollectiveKind::sendrecv:
      return {{0, call.count, (rank + ranks - 1) % ranks, 0}};
    case CollectiveKind::barrier:
      break;
  }
  return {};
}

void prepare_buffers(const CheckedRun& run, const Call& call) {
  constexpr int nobodys_result = 0xa5;
  const Extent extent = extent_of(run.kind, run.rank, run.ranks, call.root, call.count);
  if (extent.receive > 0) {
    std::memset(call.receive, nobodys_result, extent.receive * size_of(call.type));
  }
  fill_input(key_of(run, call), run.rank, call.send, extent.send);
}

std::size_t count_wrong(const CheckedRun& run, const Call& call) {
  const InputKey key = key_of(run, call);
  std::size_t wrong = 0;
  for (const Piece& piece : expected_pieces(run.kind, call, run.rank, run.ranks)) {
    const std::byte* const result = call.receive + piece.at * size_of(call.type);
    wrong += piece.source == Piece::everyone
                 ? count_wrong_results(key, piece.first, result, piece.count)
                 : count_wrong_copies(key, piece.source, piece.first, result, piece.count);
  }
  return wrong;
}

}  // namespace perf

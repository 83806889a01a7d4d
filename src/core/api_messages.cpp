// SPDX-License-Identifier: Apache-2.0
// gyre.h: messages between two ranks, groups, and the collectives whose counts differ.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/api.h"
#include "core/validate.h"

namespace gyre::core {
namespace {

using Counts = std::vector<std::size_t>;

gyreResult_t send_or_receive(const Message& message, const char* buffer_name, int type,
                             gyreComm_t comm, gyreStream_t stream) {
  return beside_streams(comm, [&](Communicator& found) -> Status {
    const auto datatype = static_cast<gyreDataType_t>(type);
    GYRE_TRY(check_type(datatype));
    GYRE_TRY(check_rank("peer", message.peer, found.ranks()));
    GYRE_TRY(check_count("count", message.count, datatype));
    GYRE_TRY(
        check_buffer(buffer_name, message.receives ? message.to : message.from, message.count));
    if (Group::is_open()) {
      return Group::of_this_thread().add(comm, stream, message);
    }
    return run_or_queue(found, comm, stream, [message](Communicator& communicator) {
      return communicator.collectives().exchange(std::span(&message, 1));
    });
  });
}

// Counts and displacements of one side, as the user gave them.
struct Side {
  const char* buffer_name;
  const void* buffer;
  const char* counts_name;
  const size_t* counts;
  const char* displacements_name;
  const size_t* displacements;  // nullptr: one section behind the other
};

struct Range {
  std::uintptr_t begin, end;
};

// Copies of the arrays, which a stream may look at when the caller's are gone.
struct Copied {
  Counts counts, displacements;
  [[nodiscard]] Collectives::Sections sections() const { return {counts, displacements}; }
};

Status check_section(const Side& side, std::size_t first, std::size_t count, gyreDataType_t type) {
  GYRE_TRY(check_count(side.counts_name, count, type));
  GYRE_TRY(check_count("a displacement", first, type));
  GYRE_TRY(check_count("a displacement and its count", first + count, type));
  return check_buffer(side.buffer_name, side.buffer, count);
}

Result<Copied> copy_side(const Side& side, int ranks, gyreDataType_t type) {
  if (side.counts == nullptr) {
    return null_argument(side.counts_name);
  }
  Copied copied;
  copied.counts.assign(side.counts, side.counts + ranks);
  if (side.displacements != nullptr) {
    copied.displacements.assign(side.displacements, side.displacements + ranks);
  } else if (side.displacements_name != nullptr) {
    return null_argument(side.displacements_name);
  }
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < copied.counts.size(); ++rank) {
    if (side.displacements == nullptr) {
      copied.displacements.push_back(next);
    }
    const Status good = check_section(side, copied.displacements[rank], copied.counts[rank], type);
    if (!good) {
      return Unexpected(good.error());
    }
    next = copied.displacements[rank] + copied.counts[rank];
  }
  return copied;
}

std::vector<Range> ranges_of(const void* buffer, const Copied& side, std::size_t element) {
  std::vector<Range> ranges;
  const auto base = reinterpret_cast<std::uintptr_t>(buffer);
  for (std::size_t rank = 0; rank < side.counts.size(); ++rank) {
    const std::uintptr_t begin = base + side.displacements[rank] * element;
    if (side.counts[rank] > 0) {
      ranges.push_back({begin, begin + side.counts[rank] * element});
    }
  }
  std::ranges::sort(ranges, {}, &Range::begin);
  return ranges;
}

// Whether any two of the ranges overlap, of which each list is sorted.
bool overlap(const std::vector<Range>& ranges) {
  const auto touch = [](const Range& a, const Range& b) { return a.end > b.begin; };
  return std::ranges::adjacent_find(ranges, touch) != ranges.end();
}

bool overlap(const std::vector<Range>& one, const std::vector<Range>& other) {
  return std::ranges::any_of(one, [&](const Range& range) {
    return std::ranges::any_of(
        other, [&](const Range& with) { return range.begin < with.end && with.begin < range.end; });
  });
}

Status check_ranges(const std::vector<Range>& sent, const std::vector<Range>& received) {
  if (overlap(received)) {
    return fail(Code::invalid_argument,
                "Two sections of recvbuff overlap: recvcounts and rdispls must name sections that "
                "lie apart.");
  }
  if (overlap(sent, received)) {
    return fail(Code::invalid_argument,
                "A section of sendbuff overlaps one of recvbuff: they must lie apart.");
  }
  return {};
}

Status all_to_all_v(const Side& from, const Side& to, gyreDataType_t type, gyreComm_t comm,
                    gyreStream_t stream, Communicator& found) {
  GYRE_TRY(check_type(type));
  auto sent = copy_side(from, found.ranks(), type);
  auto received = sent ? copy_side(to, found.ranks(), type) : sent;
  if (!received) {
    return Unexpected(received.error());
  }
  const auto own = static_cast<std::size_t>(found.rank());
  if (sent->counts[own] != received->counts[own]) {
    return fail(
        Code::invalid_argument,
        fmt::format("sendcounts[{0}] is {1} and recvcounts[{0}] is {2}: what rank {0} sends "
                    "to itself it must receive.",
                    found.rank(), sent->counts[own], received->counts[own]));
  }
  const std::size_t element = size_of(static_cast<DataType>(type));
  GYRE_TRY(check_ranges(ranges_of(from.buffer, *sent, element),
                        ranges_of(to.buffer, *received, element)));
  return run_or_queue(
      found, comm, stream,
      [send = from.buffer, receive = const_cast<void*>(to.buffer), type, sent = std::move(*sent),
       received = std::move(*received)](Communicator& communicator) {
        return communicator.collectives().all_to_all_v(send, sent.sections(), receive,
                                                       received.sections(), type);
      });
}

Status all_gather_v(const void* send, std::size_t count, const Side& to, gyreDataType_t type,
                    gyreComm_t comm, gyreStream_t stream, Communicator& found) {
  GYRE_TRY(check_type(type));
  auto received = copy_side(to, found.ranks(), type);
  if (!received) {
    return Unexpected(received.error());
  }
  const auto own = static_cast<std::size_t>(found.rank());
  if (count != received->counts[own]) {
    return fail(Code::invalid_argument,
                fmt::format("sendcount is {} and recvcounts[{}], of this rank, is {}: they must be "
                            "the same.",
                            count, found.rank(), received->counts[own]));
  }
  GYRE_TRY(check_buffer("sendbuff", send, count));
  const std::size_t element = size_of(static_cast<DataType>(type));
  const auto from = reinterpret_cast<std::uintptr_t>(send);
  const auto kept =
      reinterpret_cast<std::uintptr_t>(to.buffer) + received->displacements[own] * element;
  const std::vector<Range> sent = from == kept || count == 0
                                      ? std::vector<Range>()
                                      : std::vector<Range>{{from, from + count * element}};
  GYRE_TRY(check_ranges(sent, ranges_of(to.buffer, *received, element)));
  return run_or_queue(found, comm, stream,
                      [send, receive = const_cast<void*>(to.buffer), type,
                       received = std::move(*received)](Communicator& communicator) {
                        return communicator.collectives().all_gather_v(send, receive,
                                                                       received.sections(), type);
                      });
}

Status reduce_scatter_v(const Side& from, void* receive, gyreDataType_t type, gyreRedOp_t op,
                        gyreComm_t comm, gyreStream_t stream, Communicator& found) {
  GYRE_TRY(check_type(type));
  auto sent = copy_side(from, found.ranks(), type);
  if (!sent) {
    return Unexpected(sent.error());
  }
  const auto own = static_cast<std::size_t>(found.rank());
  const std::size_t element = size_of(static_cast<DataType>(type));
  const std::size_t count = sent->counts[own];
  GYRE_TRY(check_buffer("recvbuff", receive, count));
  const auto reduction = found.collectives().operations().resolve(op, type);
  if (!reduction) {
    return Unexpected(reduction.error());
  }
  const std::size_t all = sent->displacements.back() + sent->counts.back();
  GYRE_TRY(check_sections_overlap(from.buffer, all * element, receive, count * element,
                                  static_cast<std::ptrdiff_t>(sent->displacements[own] * element),
                                  "recvbuff is this rank's section of sendbuff"));
  return run_or_queue(found, comm, stream,
                      [send = from.buffer, receive, type, op,
                       counts = std::move(sent->counts)](Communicator& communicator) {
                        return communicator.collectives().reduce_scatter_v(send, receive, counts,
                                                                           type, op);
                      });
}

}  // namespace
}  // namespace gyre::core

using namespace gyre::core;

extern "C" {

gyreResult_t gyreSend(const void* sendbuff, size_t count, gyreDataType_t datatype, int peer,
                      gyreComm_t comm, gyreStream_t stream) {
  const Message message{.peer = peer,
                        .from = sendbuff,
                        .count = count,
                        .type = static_cast<gyre::DataType>(datatype)};
  return send_or_receive(message, "sendbuff", datatype, comm, stream);
}

gyreResult_t gyreRecv(void* recvbuff, size_t count, gyreDataType_t datatype, int peer,
                      gyreComm_t comm, gyreStream_t stream) {
  const Message message{.peer = peer,
                        .receives = true,
                        .to = recvbuff,
                        .count = count,
                        .type = static_cast<gyre::DataType>(datatype)};
  return send_or_receive(message, "recvbuff", datatype, comm, stream);
}

gyreResult_t gyreAllToAllV(const void* sendbuff, const size_t* sendcounts, const size_t* sdispls,
                           void* recvbuff, const size_t* recvcounts, const size_t* rdispls,
                           gyreDataType_t datatype, gyreComm_t comm, gyreStream_t stream) {
  return beside_streams(comm, [&](Communicator& found) {
    return all_to_all_v({"sendbuff", sendbuff, "sendcounts", sendcounts, "sdispls", sdispls},
                        {"recvbuff", recvbuff, "recvcounts", recvcounts, "rdispls", rdispls},
                        datatype, comm, stream, found);
  });
}

gyreResult_t gyreAllGatherV(const void* sendbuff, size_t sendcount, void* recvbuff,
                            const size_t* recvcounts, const size_t* rdispls,
                            gyreDataType_t datatype, gyreComm_t comm, gyreStream_t stream) {
  return beside_streams(comm, [&](Communicator& found) {
    return all_gather_v(sendbuff, sendcount,
                        {"recvbuff", recvbuff, "recvcounts", recvcounts, "rdispls", rdispls},
                        datatype, comm, stream, found);
  });
}

gyreResult_t gyreReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                                gyreDataType_t datatype, gyreRedOp_t op, gyreComm_t comm,
                                gyreStream_t stream) {
  return beside_streams(comm, [&](Communicator& found) {
    return reduce_scatter_v({"sendbuff", sendbuff, "recvcounts", recvcounts, nullptr, nullptr},
                            recvbuff, datatype, op, comm, stream, found);
  });
}

gyreResult_t gyreGroupStart(void) {
  return at_the_border([]() -> gyre::Status {
    Group::of_this_thread().start();
    return {};
  });
}

gyreResult_t gyreGroupEnd(void) {
  return at_the_border([] { return Group::of_this_thread().end(); });
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// gyre.h: the collectives with a root, and those whose buffers have a section for each rank.
#include <algorithm>
#include <cstdint>

#include "collectives/layout.h"
#include "core/api.h"
#include "core/validate.h"

namespace gyre::core {
namespace {

using Request = Collectives::Request;
using plan::Collective;

// What `rank` needs of a call: sections of each buffer, 0 for one that is ignored there.
struct Buffers {
  std::size_t send_sections = 1;
  std::size_t receive_sections = 1;
  std::ptrdiff_t shift = 0;  // in place: sections from sendbuff to recvbuff
  const char* form = "both are the same pointer";
};

Buffers buffers_of(const Request& request, int rank, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  const bool at_root = rank == request.root;
  switch (request.collective) {
    case Collective::reduce:
      return {.receive_sections = at_root ? 1U : 0U};
    case Collective::broadcast:
      return {.send_sections = at_root ? 1U : 0U};
    case Collective::all_gather:
      return {1, all, -rank, "sendbuff is recvbuff + rank * sendcount"};
    case Collective::reduce_scatter:
      return {all, 1, rank, "recvbuff is sendbuff + rank * recvcount"};
    case Collective::gather:
      return {1, at_root ? all : 0, -rank, "at the root sendbuff is recvbuff + root * sendcount"};
    case Collective::scatter:
      return {at_root ? all : 0, 1, rank, "at the root recvbuff is sendbuff + root * recvcount"};
    default:
      return {all, all, 0, "both are the same pointer"};
  }
}

// The common case of all checks at once, as plainly_good() of validate.h is. False: check() says
// what is wrong, if anything.
bool plainly_good(const Request& request, int rank, int ranks) {
  constexpr std::size_t no_overflow = std::size_t{1} << 36;  // times 2^20 ranks and 8 bytes
  if (static_cast<unsigned>(request.type) >= gyreNumTypes || request.count > no_overflow ||
      request.send == nullptr || request.receive == nullptr ||
      (plan::has_root(request.collective) &&
       static_cast<unsigned>(request.root) >= static_cast<unsigned>(ranks))) {
    return false;
  }
  const Buffers buffers = buffers_of(request, rank, ranks);
  const std::size_t bytes = request.count * size_of(static_cast<DataType>(request.type));
  const auto send = reinterpret_cast<std::uintptr_t>(request.send);
  const auto receive = reinterpret_cast<std::uintptr_t>(request.receive);
  return buffers.send_sections == 0 || buffers.receive_sections == 0 ||
         send + buffers.send_sections * bytes <= receive ||
         receive + buffers.receive_sections * bytes <= send;
}

Status check(const Request& request, const char* count_name, int rank, int ranks) {
  if (plainly_good(request, rank, ranks)) [[likely]] {
    return {};
  }
  GYRE_TRY(check_type(request.type));
  if (plan::has_root(request.collective)) {
    GYRE_TRY(check_rank("root", request.root, ranks));
  }
  GYRE_TRY(check_count(count_name, request.count, request.type));
  const Buffers buffers = buffers_of(request, rank, ranks);
  const std::size_t most = std::max(buffers.send_sections, buffers.receive_sections);
  if (most > 1 && request.count > SIZE_MAX / most) {
    return check_count(count_name, SIZE_MAX, request.type);
  }
  GYRE_TRY(check_count(count_name, request.count * std::max<std::size_t>(most, 1), request.type));
  if (buffers.send_sections > 0) {
    GYRE_TRY(check_buffer("sendbuff", request.send, request.count));
  }
  if (buffers.receive_sections > 0) {
    GYRE_TRY(check_buffer("recvbuff", request.receive, request.count));
  }
  if (buffers.send_sections == 0 || buffers.receive_sections == 0) {
    return {};
  }
  const std::size_t bytes = request.count * size_of(static_cast<DataType>(request.type));
  return check_sections_overlap(request.send, buffers.send_sections * bytes, request.receive,
                                buffers.receive_sections * bytes,
                                buffers.shift * static_cast<std::ptrdiff_t>(bytes), buffers.form);
}

gyreResult_t call(const Request& request, const char* count_name, gyreComm_t comm,
                  gyreStream_t stream) {
  return beside_streams(comm, [&](Communicator& found) -> Status {
    GYRE_TRY(check(request, count_name, found.rank(), found.ranks()));
    if (plan::reduces(request.collective)) {  // what is queued cannot be refused any more
      const auto reduction = found.collectives().operations().resolve(request.op, request.type);
      if (!reduction) {
        return gyre::Unexpected(reduction.error());
      }
    }
    return run_or_queue(found, comm, stream, [request](Communicator& communicator) {
      return communicator.collectives().run_request(request);
    });
  });
}

}  // namespace
}  // namespace gyre::core

using gyre::core::call;
using gyre::plan::Collective;

extern "C" {

gyreResult_t gyreReduce(const void* sendbuff, void* recvbuff, size_t count, gyreDataType_t datatype,
                        gyreRedOp_t op, int root, gyreComm_t comm, gyreStream_t stream) {
  return call({Collective::reduce, sendbuff, recvbuff, count, datatype, op, root}, "count", comm,
              stream);
}

gyreResult_t gyreReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               gyreDataType_t datatype, gyreRedOp_t op, gyreComm_t comm,
                               gyreStream_t stream) {
  return call({Collective::reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op, -1},
              "recvcount", comm, stream);
}

gyreResult_t gyreAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                           gyreDataType_t datatype, gyreComm_t comm, gyreStream_t stream) {
  return call({Collective::all_gather, sendbuff, recvbuff, sendcount, datatype}, "sendcount", comm,
              stream);
}

gyreResult_t gyreBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                           gyreDataType_t datatype, int root, gyreComm_t comm,
                           gyreStream_t stream) {
  return call({Collective::broadcast, sendbuff, recvbuff, count, datatype, gyreSum, root}, "count",
              comm, stream);
}

gyreResult_t gyreGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                        gyreDataType_t datatype, int root, gyreComm_t comm, gyreStream_t stream) {
  return call({Collective::gather, sendbuff, recvbuff, sendcount, datatype, gyreSum, root},
              "sendcount", comm, stream);
}

gyreResult_t gyreScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                         gyreDataType_t datatype, int root, gyreComm_t comm, gyreStream_t stream) {
  return call({Collective::scatter, sendbuff, recvbuff, recvcount, datatype, gyreSum, root},
              "recvcount", comm, stream);
}

gyreResult_t gyreAllToAll(const void* sendbuff, void* recvbuff, size_t count,
                          gyreDataType_t datatype, gyreComm_t comm, gyreStream_t stream) {
  return call({Collective::all_to_all, sendbuff, recvbuff, count, datatype}, "count", comm, stream);
}

}  // extern "C"

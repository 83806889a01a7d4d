// SPDX-License-Identifier: Apache-2.0
// The choice of the call stays outside of the loop, which then holds nothing but the call.
#include "perf/gyre_bench/gyre_collective.h"

namespace perf {
namespace {

template <class OneCall>
void repeat_call(const GyreLibrary& library, const char* name, int times, OneCall one_call) {
  for (int i = 0; i < times; ++i) library.require(one_call(), name);
}

// Each rank sends to the next one and receives from the one before it.
void repeat_sendrecv(const GyreLibrary& library, const Call& call, int times) {
  const gyreDataType_t type = GyreLibrary::datatype(call.type);
  const int next = (library.rank() + 1) % library.size();
  const int previous = (library.rank() + library.size() - 1) % library.size();
  const gyreComm_t comm = library.communicator();
  const gyreStream_t stream = library.stream();
  for (int i = 0; i < times; ++i) {
    library.require(gyreGroupStart(), "gyreGroupStart");
    library.require(gyreSend(call.send, call.count, type, next, comm, stream), "gyreSend");
    library.require(gyreRecv(call.receive, call.count, type, previous, comm, stream), "gyreRecv");
    library.require(gyreGroupEnd(), "gyreGroupEnd");
  }
}

}  // namespace

void GyreCollective::repeat(const Call& call, int times) {
  if (traits_of(kind()).reduces) return repeat_reducing(call, times);
  if (traits_of(kind()).has_root) return repeat_rooted(call, times);
  repeat_symmetric(call, times);
}

void GyreCollective::repeat_reducing(const Call& call, int times) {
  const gyreDataType_t type = GyreLibrary::datatype(call.type);
  const gyreRedOp_t op = library_.reduction(call.op, call.type);
  const gyreComm_t comm = library_.communicator();
  const gyreStream_t stream = library_.stream();
  switch (kind()) {
    case CollectiveKind::reduce:
      return repeat_call(library_, "gyreReduce", times, [&] {
        return gyreReduce(call.send, call.receive, call.count, type, op, call.root, comm, stream);
      });
    case CollectiveKind::reduce_scatter:
      return repeat_call(library_, "gyreReduceScatter", times, [&] {
        return gyreReduceScatter(call.send, call.receive, call.count, type, op, comm, stream);
      });
    default:
      return repeat_call(library_, "gyreAllReduce", times, [&] {
        return gyreAllReduce(call.send, call.receive, call.count, type, op, comm, stream);
      });
  }
}

void GyreCollective::repeat_rooted(const Call& call, int times) {
  const gyreDataType_t type = GyreLibrary::datatype(call.type);
  const gyreComm_t comm = library_.communicator();
  const gyreStream_t stream = library_.stream();
  switch (kind()) {
    case CollectiveKind::gather:
      return repeat_call(library_, "gyreGather", times, [&] {
        return gyreGather(call.send, call.receive, call.count, type, call.root, comm, stream);
      });
    case CollectiveKind::scatter:
      return repeat_call(library_, "gyreScatter", times, [&] {
        return gyreScatter(call.send, call.receive, call.count, type, call.root, comm, stream);
      });
    default:
      return repeat_call(library_, "gyreBroadcast", times, [&] {
        return gyreBroadcast(call.send, call.receive, call.count, type, call.root, comm, stream);
      });
  }
}

void GyreCollective::repeat_symmetric(const Call& call, int times) {
  const gyreDataType_t type = GyreLibrary::datatype(call.type);
  const gyreComm_t comm = library_.communicator();
  const gyreStream_t stream = library_.stream();
  switch (kind()) {
    case CollectiveKind::alltoall:
      return repeat_call(library_, "gyreAllToAll", times, [&] {
        return gyreAllToAll(call.send, call.receive, call.count, type, comm, stream);
      });
    case CollectiveKind::alltoallv:
      return repeat_call(library_, "gyreAllToAllV", times, [&, &at = *call.sections] {
        return gyreAllToAllV(call.send, at.send_counts.data(), at.send_offsets.data(), call.receive,
                             at.receive_counts.data(), at.receive_offsets.data(), type, comm,
                             stream);
      });
    case CollectiveKind::sendrecv:
      return repeat_sendrecv(library_, call, times);
    case CollectiveKind::barrier:
      return repeat_call(library_, "gyreBarrier", times, [&] { return gyreBarrier(comm, stream); });
    default:
      return repeat_call(library_, "gyreAllGather", times, [&] {
        return gyreAllGather(call.send, call.receive, call.count, type, comm, stream);
      });
  }
}

}  // namespace perf

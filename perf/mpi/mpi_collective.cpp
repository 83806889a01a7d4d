// SPDX-License-Identifier: Apache-2.0
#include "perf/mpi/mpi_collective.h"

#include <climits>
#include <cstring>

#include "perf/common/failure.h"

namespace perf {
namespace {

template <class OneCall>
void repeat_call(const char* name, int times, OneCall one_call) {
  for (int i = 0; i < times; ++i) require_mpi(one_call(), name);
}

int as_int(std::size_t count) {
  if (count > INT_MAX) throw Failure("MPI counts are int: lower -e, or use a wider type.");
  return static_cast<int>(count);
}

// Elements to be moved, not combined: as bytes where MPI lacks the type.
struct Moved {
  explicit Moved(const Call& call)
      : type(mpi_datatype(call.type)),
        per_element(type == MPI_DATATYPE_NULL ? size_of(call.type) : 1) {
    if (type == MPI_DATATYPE_NULL) type = MPI_BYTE;
    count = as_int(call.count * per_element);
  }
  MPI_Datatype type;
  std::size_t per_element;
  int count = 0;
};

std::vector<int> as_ints(const std::vector<std::size_t>& counts, std::size_t per_element) {
  std::vector<int> converted;
  converted.reserve(counts.size());
  for (const std::size_t count : counts) converted.push_back(as_int(count * per_element));
  return converted;
}

}  // namespace

void MpiCollective::repeat(const Call& call, int times) {
  if (traits_of(kind()).reduces) return repeat_reducing(call, times);
  if (traits_of(kind()).has_root) return repeat_rooted(call, times);
  repeat_symmetric(call, times);
}

void MpiCollective::repeat_reducing(const Call& call, int times) const {
  const int count = as_int(call.count);
  const MPI_Datatype type = mpi_datatype(call.type);
  const MPI_Op op = mpi_operation(call.op);
  const bool in_place = call.send == call.receive;
  const void* const send = in_place ? MPI_IN_PLACE : call.send;
  // Only the root of a Reduce may say so.
  const void* const to_root = library_.rank() == call.root ? send : call.send;
  switch (kind()) {
    case CollectiveKind::reduce:
      return repeat_call("MPI_Reduce", times, [&] {
        return MPI_Reduce(to_root, call.receive, count, type, op, call.root, MPI_COMM_WORLD);
      });
    case CollectiveKind::reduce_scatter:
      return repeat_call("MPI_Reduce_scatter_block", times, [&] {
        return MPI_Reduce_scatter_block(call.send, call.receive, count, type, op, MPI_COMM_WORLD);
      });
    default:
      return repeat_call("MPI_Allreduce", times, [&] {
        return MPI_Allreduce(send, call.receive, count, type, op, MPI_COMM_WORLD);
      });
  }
}

void MpiCollective::repeat_rooted(const Call& call, int times) const {
  const Moved moved(call);
  // In place the root's own section lies where it should: see Sweep::call_of.
  const auto shift = static_cast<std::ptrdiff_t>(call.count * size_of(call.type)) * call.root;
  const bool at_root = library_.rank() == call.root;
  switch (kind()) {
    case CollectiveKind::gather: {
      const void* const send =
          at_root && call.send == call.receive + shift ? MPI_IN_PLACE : call.send;
      return repeat_call("MPI_Gather", times, [&] {
        return MPI_Gather(send, moved.count, moved.type, call.receive, moved.count, moved.type,
                          call.root, MPI_COMM_WORLD);
      });
    }
    case CollectiveKind::scatter: {
      void* const receive =
          at_root && call.receive == call.send + shift ? MPI_IN_PLACE : call.receive;
      return repeat_call("MPI_Scatter", times, [&] {
        return MPI_Scatter(call.send, moved.count, moved.type, receive, moved.count, moved.type,
                           call.root, MPI_COMM_WORLD);
      });
    }
    default:
      return repeat_broadcast(call, times);
  }
}

// MPI has the in-place form only: for the other one the root copies for itself.
void MpiCollective::repeat_broadcast(const Call& call, int times) const {
  const Moved moved(call);
  const bool copies = library_.rank() == call.root && call.send != call.receive;
  const std::size_t bytes = call.count * size_of(call.type);
  repeat_call("MPI_Bcast", times, [&] {
    if (copies) std::memcpy(call.receive, call.send, bytes);
    return MPI_Bcast(call.receive, moved.count, moved.type, call.root, MPI_COMM_WORLD);
  });
}

void MpiCollective::repeat_symmetric(const Call& call, int times) const {
  const Moved moved(call);
  const auto shift = static_cast<std::ptrdiff_t>(call.count * size_of(call.type)) * library_.rank();
  switch (kind()) {
    case CollectiveKind::alltoall: {
      const void* const send = call.send == call.receive ? MPI_IN_PLACE : call.send;
      return repeat_call("MPI_Alltoall", times, [&] {
        return MPI_Alltoall(send, moved.count, moved.type, call.receive, moved.count, moved.type,
                            MPI_COMM_WORLD);
      });
    }
    case CollectiveKind::alltoallv:
      return repeat_alltoallv(call, times);
    case CollectiveKind::sendrecv:
      return repeat_sendrecv(call, times);
    case CollectiveKind::barrier:
      return repeat_call("MPI_Barrier", times, [] { return MPI_Barrier(MPI_COMM_WORLD); });
    default: {
      const void* const send = call.send == call.receive + shift ? MPI_IN_PLACE : call.send;
      return repeat_call("MPI_Allgather", times, [&] {
        return MPI_Allgather(send, moved.count, moved.type, call.receive, moved.count, moved.type,
                             MPI_COMM_WORLD);
      });
    }
  }
}

void MpiCollective::repeat_alltoallv(const Call& call, int times) const {
  const Moved moved(call);
  const std::vector<int> send_counts = as_ints(call.sections->send_counts, moved.per_element);
  const std::vector<int> send_offsets = as_ints(call.sections->send_offsets, moved.per_element);
  const std::vector<int> receive_counts = as_ints(call.sections->receive_counts, moved.per_element);
  const std::vector<int> receive_offsets =
      as_ints(call.sections->receive_offsets, moved.per_element);
  repeat_call("MPI_Alltoallv", times, [&] {
    return MPI_Alltoallv(call.send, send_counts.data(), send_offsets.data(), moved.type,
                         call.receive, receive_counts.data(), receive_offsets.data(), moved.type,
                         MPI_COMM_WORLD);
  });
}

void MpiCollective::repeat_sendrecv(const Call& call, int times) const {
  const Moved moved(call);
  const int next = (library_.rank() + 1) % library_.size();
  const int previous = (library_.rank() + library_.size() - 1) % library_.size();
  repeat_call("MPI_Sendrecv", times, [&] {
    return MPI_Sendrecv(call.send, moved.count, moved.type, next, 0, call.receive, moved.count,
                        moved.type, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
}

}  // namespace perf

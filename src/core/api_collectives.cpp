// SPDX-License-Identifier: Apache-2.0
// gyre.h: collectives, operations, groups.
#include "core/api.h"
#include "core/validate.h"

namespace gyre::core {
namespace {

Unexpected not_built_yet(const char* function) {
  return fail(Code::not_supported,
              fmt::format("{} is declared and not built yet: see the support table in README.md. "
                          "Nothing was done.",
                          function));
}

Status check_reduction(const void* sendbuff, const void* recvbuff, std::size_t count,
                       gyreDataType_t datatype) {
  if (plainly_good(sendbuff, recvbuff, count, datatype)) [[likely]] {
    return {};
  }
  GYRE_TRY(check_type(datatype));
  GYRE_TRY(check_count("count", count, datatype));
  GYRE_TRY(check_buffer("sendbuff", sendbuff, count));
  GYRE_TRY(check_buffer("recvbuff", recvbuff, count));
  return check_overlap(sendbuff, recvbuff, count * size_of(static_cast<DataType>(datatype)));
}

}  // namespace
}  // namespace gyre::core

using namespace gyre::core;
using gyre::Status;

extern "C" {

gyreResult_t gyreAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                           gyreDataType_t datatype, gyreRedOp_t op, gyreComm_t comm,
                           gyreStream_t stream) {
  return beside_streams(comm, [&](Communicator& found) -> Status {
    GYRE_TRY(check_reduction(sendbuff, recvbuff, count, datatype));
    if (stream != nullptr || Group::is_open()) {  // what is queued cannot be refused any more
      const auto reduction = found.collectives().operations().resolve(op, datatype);
      if (!reduction) {
        return gyre::Unexpected(reduction.error());
      }
    }
    return run_or_queue(found, comm, stream, [=](Communicator& communicator) {
      return communicator.collectives().all_reduce(sendbuff, recvbuff, count, datatype, op);
    });
  });
}

gyreResult_t gyreBarrier(gyreComm_t comm, gyreStream_t stream) {
  return beside_streams(comm, [&](Communicator& found) -> Status {
    return run_or_queue(found, comm, stream, [](Communicator& communicator) {
      return communicator.collectives().barrier();
    });
  });
}

gyreResult_t gyreRedOpCreatePreMulSum(gyreRedOp_t* op, const void* scalar, gyreDataType_t datatype,
                                      gyreComm_t comm) {
  return in_communicator(comm, [&](Communicator& found) -> Status {
    if (op == nullptr || scalar == nullptr) {
      return null_argument(op == nullptr ? "op" : "scalar");
    }
    GYRE_TRY(check_type(datatype));
    *op = found.collectives().operations().add_premulsum(scalar, datatype);
    return {};
  });
}

gyreResult_t gyreRedOpCreateUser(gyreRedOp_t* op, gyreReduceFunction_t function, int commutative,
                                 void* context, gyreComm_t comm) {
  return in_communicator(comm, [&](Communicator& found) -> Status {
    if (op == nullptr || function == nullptr) {
      return null_argument(op == nullptr ? "op" : "function");
    }
    *op = found.collectives().operations().add_user(
        {.function = function, .context = context, .commutative = commutative != 0});
    return {};
  });
}

gyreResult_t gyreRedOpDestroy(gyreRedOp_t op, gyreComm_t comm) {
  return in_communicator(comm, [&](Communicator& found) -> Status {
    found.collectives().forget_prepared();
    return found.collectives().operations().remove(op);
  });
}

// ---- declared, and filled in later -------------------------------------------------------------

gyreResult_t gyreCommShrink(gyreComm_t, const int*, int, gyreComm_t*, const gyreConfig_t*, int) {
  return report(not_built_yet("gyreCommShrink").value());
}

}  // extern "C"

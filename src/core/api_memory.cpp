// SPDX-License-Identifier: Apache-2.0
// gyre.h: memory, and what is known about ranks and plans.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/api.h"
#include "core/fixed_text.h"
#include "core/validate.h"

namespace gyre::core {
namespace {

Status fill(gyreRankInfo_t& info, const Communicator& communicator, int rank) {
  GYRE_TRY(check_rank("rank", rank, communicator.ranks()));
  if (info.size < sizeof(std::size_t) + sizeof(int) || info.size > 4096) {
    return fail(Code::invalid_argument,
                fmt::format("info->size is {}: set it to sizeof(gyreRankInfo_t) before the call.",
                            info.size));
  }
  const topology::HostIdentity& host = communicator.card(rank).host;
  gyreRankInfo_t filled{};
  filled.size = info.size;
  filled.version = info.version;
  filled.rank = rank;
  filled.pid = host.pid;
  filled.cpu = host.cpu;
  copy_text(filled.host, host.host_name);
  copy_text(filled.cpus, host.cpus);
  copy_text(filled.transport, communicator.transport_to(rank));
  // A shorter struct is an older one: it gets the fields that it has.
  std::memcpy(&info, &filled, std::min(info.size, sizeof(filled)));
  return {};
}

}  // namespace
}  // namespace gyre::core

using namespace gyre::core;
using gyre::Code;
using gyre::Status;

extern "C" {

gyreResult_t gyreCommGetRankInfo(gyreComm_t comm, int rank, gyreRankInfo_t* info) {
  return in_communicator(comm, [&](Communicator& found) -> Status {
    return info == nullptr ? null_argument("info") : fill(*info, found, rank);
  });
}

gyreResult_t gyreCommGetLastPlan(gyreComm_t comm, const char** name) {
  return in_communicator(comm, [&](Communicator& found) -> Status {
    if (name == nullptr) {
      return null_argument("name");
    }
    *name = found.collectives().last_plan();
    return {};
  });
}

gyreResult_t gyreMemAlloc(void** ptr, size_t size) {
  return at_the_border([&]() -> Status {
    if (ptr == nullptr) {
      return null_argument("ptr");
    }
    if (size == 0) {
      return gyre::fail(Code::invalid_argument, "size is 0: there is nothing to allocate.");
    }
    if (size > PTRDIFF_MAX) {
      return gyre::fail(
          Code::invalid_argument,
          fmt::format("size is {}: that is more than a process can address. Is a negative number "
                      "passed as a size?",
                      size));
    }
    const auto process = Process::get();
    if (!process) {
      return gyre::Unexpected(process.error());
    }
    const auto memory = (*process)->allocator().allocate(size);
    if (!memory) {
      return gyre::Unexpected(memory.error());
    }
    *ptr = *memory;
    return {};
  });
}

gyreResult_t gyreMemFree(void* ptr) {
  return at_the_border([&]() -> Status {
    if (ptr == nullptr) {
      return {};  // as free(3)
    }
    Process* const process = Process::existing();
    if (process == nullptr) {
      return gyre::fail(
          Code::invalid_argument,
          fmt::format("ptr is {}: gyreMemAlloc was never called in this process.", ptr));
    }
    return process->allocator().free(ptr);
  });
}

gyreResult_t gyreCommRegister(gyreComm_t comm, void* buff, size_t size, unsigned flags,
                              gyreRegistration_t* registration) {
  return in_communicator(comm, [&](Communicator& found) -> Status {
    if (registration == nullptr || buff == nullptr) {
      return null_argument(buff == nullptr ? "buff" : "registration");
    }
    if (size == 0 || reinterpret_cast<std::uintptr_t>(buff) + size < size) {
      return gyre::fail(
          Code::invalid_argument,
          fmt::format("size is {}: [buff, buff + size) must be a range of memory.", size));
    }
    if ((flags & ~GYRE_REGISTER_SHARE_IN_PLACE) != 0) {
      return gyre::fail(
          Code::invalid_argument,
          fmt::format("flags is {:#x}: only GYRE_REGISTER_SHARE_IN_PLACE ({:#x}) is known.", flags,
                      GYRE_REGISTER_SHARE_IN_PLACE));
    }
    const auto ticket =
        found.add_registration(buff, size, (flags & GYRE_REGISTER_SHARE_IN_PLACE) != 0);
    if (!ticket) {
      return gyre::Unexpected(ticket.error());
    }
    *registration = reinterpret_cast<gyreRegistration_t>(static_cast<std::uintptr_t>(*ticket));
    return {};
  });
}

gyreResult_t gyreCommDeregister(gyreComm_t comm, gyreRegistration_t registration) {
  return in_communicator(comm, [&](Communicator& found) {
    return found.remove_registration(reinterpret_cast<std::uintptr_t>(registration));
  });
}

}  // extern "C"

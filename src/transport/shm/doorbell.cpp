// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/doorbell.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace gyre::shm {
namespace {

// Where membarrier(2) is missing or forbidden a ring can be missed: a short bound then limits what
// that costs.
constexpr std::chrono::microseconds bound_without_barrier{1000};

bool register_for_barriers() {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

}  // namespace

ShmDoorbell::ShmDoorbell(SegmentHeader& own, bool use_barrier)
    : own_(own), barrier_works_(use_barrier && register_for_barriers()) {}

void ShmDoorbell::arm() {
  // seq_cst: orders this store before the sleeper's own polls where membarrier is not to be had.
  own_.asleep.store(1, std::memory_order_seq_cst);
  if (barrier_works_) {
    barrier_works_ = ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
  }
}

void ShmDoorbell::disarm() {
  // relaxed: a peer that still reads 1 makes one needless system call.
  own_.asleep.store(0, std::memory_order_relaxed);
}

std::uint32_t ShmDoorbell::ticket() {
  // acquire: the polls that follow must not move up before this load.
  return own_.wake.load(std::memory_order_acquire);
}

void ShmDoorbell::sleep(std::uint32_t ticket, std::chrono::microseconds bound) {
  const auto limit = barrier_works_ ? bound : std::min(bound, bound_without_barrier);
  const timespec timeout{.tv_sec = limit.count() / 1'000'000,
                         .tv_nsec = (limit.count() % 1'000'000) * 1000};
  // Returns at once when the word moved on; a signal (EINTR) or the bound end it too: all the same
  // to the caller, who polls again.
  ::syscall(SYS_futex, &own_.wake, FUTEX_WAIT, ticket, &timeout, nullptr, 0);
}

void ShmDoorbell::ring() {
  wake_owner(own_);
}

void wake_owner(SegmentHeader& owner) {
  // release: what was delivered before is visible to whoever reads the new number.
  owner.wake.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &owner.wake, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace gyre::shm

// SPDX-License-Identifier: Apache-2.0
// A futex in the owner's segment. The peers' side costs one load after each delivery: the full
// barrier that the usual store-then-load handshake needs is paid by the sleeper alone, with
// membarrier(2).
#pragma once

#include "transport/doorbell.h"
#include "transport/shm/layout.h"

namespace gyre::shm {

class ShmDoorbell final : public transport::Doorbell {
 public:
  // Without `use_barrier` it works as where the kernel has no membarrier(2).
  explicit ShmDoorbell(SegmentHeader& own, bool use_barrier = true);

  void arm() override;
  void disarm() override;
  std::uint32_t ticket() override;
  void sleep(std::uint32_t ticket, std::chrono::microseconds bound) override;
  void ring() override;

 private:
  SegmentHeader& own_;
  bool barrier_works_;
};

// Slow half of ring_if_asleep.
void wake_owner(SegmentHeader& owner);

// To be called after each delivery into the segment of `owner`.
inline void ring_if_asleep(SegmentHeader& owner) {
  // Only the compiler must be kept from moving the load up: the processor may, and then the
  // sleeper's membarrier, which runs a full barrier on this processor, decides. Before it: our
  // store is visible to the sleeper's last poll. After it: we see `asleep`.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (owner.asleep.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    wake_owner(owner);
  }
}

}  // namespace gyre::shm

// SPDX-License-Identifier: Apache-2.0
// How a rank that has waited long enough sleeps, and how its peers wake it.
//
// Use:  arm();  t = ticket();  poll everything;  if nothing came: sleep(t, bound);  ...  disarm();
// A delivery that happens after ticket() either is seen by the poll or ends the sleep.
#pragma once

#include <chrono>
#include <cstdint>

namespace gyre::transport {

class Doorbell {
 public:
  Doorbell() = default;
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;
  virtual ~Doorbell() = default;

  // From now on peers ring after each delivery.
  virtual void arm() = 0;
  virtual void disarm() = 0;
  [[nodiscard]] virtual std::uint32_t ticket() = 0;
  virtual void sleep(std::uint32_t ticket, std::chrono::microseconds bound) = 0;
  // Wakes the owner, from any thread of its process (a failure was noticed).
  virtual void ring() = 0;
};

}  // namespace gyre::transport

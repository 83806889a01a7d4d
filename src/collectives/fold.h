// SPDX-License-Identifier: Apache-2.0
// Any number of ranks made a power of two: of the first ranks, as many as there are too many, each
// odd one is the guest of the even one before it, its host. Guests hand in what they have and get what
// comes out; the others, the core, are numbered anew, in the order of ranks.
//
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations
// in MPICH", International Journal of High Performance Computing Applications 19(1), 2005.
#pragma once

#include <bit>

namespace gyre::plan {

class Fold {
 public:
  explicit Fold(int ranks)
      : core_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        guests_(ranks - core_) {}

  [[nodiscard]] int core() const { return core_; }  // its size, a power of two
  [[nodiscard]] bool is_guest(int rank) const { return rank < 2 * guests_ && rank % 2 == 1; }
  [[nodiscard]] bool is_host(int rank) const { return rank < 2 * guests_ && rank % 2 == 0; }
  static int host_of(int guest) { return guest - 1; }
  static int guest_of(int host) { return host + 1; }
  // The number of a rank in the core; of a guest, its host's.
  [[nodiscard]] int number_of(int rank) const {
    return rank < 2 * guests_ ? rank / 2 : rank - guests_;
  }
  [[nodiscard]] int rank_of(int number) const {
    return number < guests_ ? 2 * number : number + guests_;
  }

 private:
  int core_, guests_;
};

}  // namespace gyre::plan

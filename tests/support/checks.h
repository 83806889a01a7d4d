// SPDX-License-Identifier: Apache-2.0
// For roles: counts what does not hold and says it, so that the exit code of a rank tells.
#pragma once

#include <gyre/gyre.h>

#include <string>
#include <string_view>

namespace gyre::test {

class Checks {
 public:
  // False, and said, when it does not hold. `detail` goes behind it.
  bool that(bool holds, std::string_view what, std::string_view detail = "");
  // That the call succeeded.
  bool succeeded(gyreResult_t result, std::string_view what);
  // That the call gave `expected`, and that the text contains each of `words`.
  bool refused(gyreResult_t result, gyreResult_t expected, std::string_view what,
               std::initializer_list<std::string_view> words);

  [[nodiscard]] int failures() const { return failures_; }
  [[nodiscard]] int exit_code() const { return failures_ == 0 ? 0 : 1; }

 private:
  int failures_ = 0;
};

// A communicator of the ranks that the environment names. Says why when there is none.
class RankComm {
 public:
  explicit RankComm(Checks& checks, const gyreConfig_t* config = nullptr);
  RankComm(const RankComm&) = delete;
  RankComm& operator=(const RankComm&) = delete;
  ~RankComm();

  [[nodiscard]] gyreComm_t get() const { return comm_; }
  [[nodiscard]] explicit operator bool() const { return comm_ != nullptr; }
  // The owner has destroyed or aborted it.
  void forget() { comm_ = nullptr; }

 private:
  gyreComm_t comm_ = nullptr;
};

// For jobs that make several communicators: the id travels over the first, from rank 0 to all.
[[nodiscard]] gyreUniqueId share_new_id(Checks& checks, gyreComm_t comm);

}  // namespace gyre::test

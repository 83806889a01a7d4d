// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/mail.h"

#include <algorithm>
#include <cstring>

namespace bounds {

void write_mail(Line* line, const float* in, std::size_t count, std::uint64_t epoch) {
  const bool empty = count == 0;
  for (; count >= line_floats; count -= line_floats, in += line_floats, ++line) {
    std::memcpy(line->data.data(), in, sizeof line->data);
    // Release: the data of the line before its stamp.
    line->stamp.store(epoch, std::memory_order_release);
  }
  if (count == 0 && !empty) return;
  for (std::size_t i = 0; i < count; ++i) line->data[i] = in[i];
  line->stamp.store(epoch, std::memory_order_release);
}

void read_mail(float* out, const Line* line, std::size_t count, std::uint64_t epoch,
               const Waiter& waiter) {
  for (; count >= line_floats; count -= line_floats, out += line_floats, ++line) {
    waiter.until(line->stamp, epoch);
    std::memcpy(out, line->data.data(), sizeof line->data);
  }
  if (count == 0) return;
  waiter.until(line->stamp, epoch);
  for (std::size_t i = 0; i < count; ++i) out[i] = line->data[i];
}

void add_mail(float* out, const float* in, const Line* line, std::size_t count, std::uint64_t epoch,
              const Waiter& waiter) {
  for (; count >= line_floats; count -= line_floats, ++line) {
    waiter.until(line->stamp, epoch);
    for (std::size_t i = 0; i < line_floats; ++i) out[i] = in[i] + line->data[i];
    in += line_floats;
    out += line_floats;
  }
  if (count == 0) return;
  waiter.until(line->stamp, epoch);
  for (std::size_t i = 0; i < count; ++i) out[i] = in[i] + line->data[i];
}

void Mail::all_reduce(const float* in, float* out, std::size_t count) {
  ++epoch_;
  write_mail(lines_of(team_.rank()), in, count, epoch_);
  if (team_.size() == 2) {
    add_mail(out, in, lines_of(1 - team_.rank()), count, epoch_, team_.waiter());
  } else {
    receive_all(in, out, count);
  }
}

void Mail::receive_all(const float* in, float* out, std::size_t count) {
  for (std::size_t first = 0; first < count; first += line_floats) {
    const std::size_t part = std::min(line_floats, count - first);
    std::array<float, line_floats> sum{};
    for (int rank = 0; rank < team_.size(); ++rank) {
      const Line& line = lines_of(rank)[first / line_floats];
      if (rank != team_.rank()) team_.waiter().until(line.stamp, epoch_);
      const float* from = rank == team_.rank() ? in + first : line.data.data();
      for (std::size_t i = 0; i < part; ++i) sum[i] += from[i];
    }
    std::memcpy(out + first, sum.data(), part * sizeof(float));
  }
}

}  // namespace bounds

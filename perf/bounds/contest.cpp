// SPDX-License-Identifier: Apache-2.0
#include "perf/bounds/contest.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace bounds {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t finalists = 3;
constexpr ClockRule trial_rule{1, 0.5};

// Of large buffers a part is checked, in every chunk and in every vector lane sooner or later: the
// check would take longer than what is measured.
std::size_t check_stride(std::size_t count) {
  return count <= 65536 ? 1 : 61;
}

float* allocate(std::size_t count) {
  const std::size_t bytes = (count * sizeof(float) / page_bytes + 1) * page_bytes;
  void* const memory = std::aligned_alloc(page_bytes, bytes);
  if (memory == nullptr) throw std::runtime_error("no memory for user buffers: lower -e");
  return static_cast<float*>(memory);
}

}  // namespace

Best find_best(Team& team, const ClockRule& rule, const std::vector<Variant>& variants,
               const std::function<void(const Variant&)>& verify) {
  std::vector<double> times;
  for (const Variant& variant : variants) {
    verify(variant);
    times.push_back(measure(team, trial_rule, variant.run).microseconds);
  }
  std::vector<std::size_t> order(variants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  Best best;
  for (std::size_t place = 0; place < std::min(finalists, order.size()); ++place) {
    const Variant& variant = variants[order[place]];
    const Measured measured = measure(team, rule, variant.run);
    if (place == 0 || measured.microseconds < best.measured.microseconds) {
      best = {variant.name, measured};
    }
  }
  return best;
}

void UserBuffers::Free::operator()(float* memory) const {
  std::free(memory);
}

float input_value(int rank, std::size_t index) {
  return static_cast<float>((index * 7 + static_cast<std::size_t>(rank) * 13) % 1021);
}

UserBuffers::UserBuffers(std::size_t in_count, std::size_t out_count, int rank)
    : count_(out_count), in_(allocate(in_count)), out_(allocate(out_count)) {
  for (std::size_t i = 0; i < in_count; ++i) in_.get()[i] = input_value(rank, i);
  std::fill_n(out_.get(), out_count, -1.0F);
}

void UserBuffers::poison() {
  for (std::size_t i = 0; i < count_; i += check_stride(count_)) out_.get()[i] = -1.0F;
}

void UserBuffers::verify(int ranks, const std::string& what) const {
  const auto sum = [ranks](std::size_t index) {
    float expected = 0;
    for (int rank = 0; rank < ranks; ++rank) expected += input_value(rank, index);
    return expected;
  };
  verify(sum, what);
}

void UserBuffers::verify(const std::function<float(std::size_t)>& expected,
                         const std::string& what) const {
  for (std::size_t i = 0; i < count_; i += check_stride(count_)) {
    if (out_.get()[i] != expected(i)) {
      throw std::runtime_error("the bound's own collective is wrong: " + what + ", element " +
                               std::to_string(i));
    }
  }
}

}  // namespace bounds

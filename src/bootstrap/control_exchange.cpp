// SPDX-License-Identifier: Apache-2.0
// All-gather and barrier in ceil(log2 n) rounds over the links (Bruck's dissemination): before
// round k a rank holds the blocks of itself and the 2^k - 1 ranks after it; it sends them to the
// rank 2^k behind and gets as many from the rank 2^k ahead.
#include <algorithm>

#include <fmt/format.h>

#include "bootstrap/control_core.h"
#include "bootstrap/overlay.h"

namespace gyre::bootstrap {
namespace {

const char* name_of_kind(GatherStep::Kind kind) {
  return kind == GatherStep::Kind::barrier ? "a barrier" : "an all-gather";
}

}  // namespace

Unexpected ControlChannel::Core::fail_with(int culprit, Code code, std::string text) {
  record({culprit, code, std::move(text)});
  return Unexpected(failure()->error());  // an earlier cause may have won
}

Result<std::vector<Bytes>> ControlChannel::Core::exchange(GatherStep::Kind kind, ByteView mine,
                                                          Deadline deadline) {
  const int n = options_.size;
  ++sequence_;
  std::vector<Bytes> blocks(1, Bytes(mine.begin(), mine.end()));  // of rank, rank + 1, ...
  std::uint8_t round = 0;
  for (const int offset : overlay_offsets(n)) {
    const auto count = static_cast<std::size_t>(std::min(offset, n - offset));
    GatherStep step{sequence_, round, kind, {}};
    const bool with_blocks = kind == GatherStep::Kind::all_gather;
    if (with_blocks) {
      step.blocks.assign(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(count));
    }
    GYRE_TRY(send_step((options_.rank - offset + n) % n, step));
    Result<GatherStep> got = await_step(
        static_cast<int>((std::int64_t{options_.rank} + offset) % n), round, kind, deadline);
    if (!got) {
      return Unexpected(got.error());
    }
    if (with_blocks && got->blocks.size() != count) {
      return fail_with(options_.rank, Code::internal_error,
                       fmt::format("Rank {} got {} blocks in round {} where {} were due.",
                                   options_.rank, got->blocks.size(), round, count));
    }
    std::ranges::move(got->blocks, std::back_inserter(blocks));
    ++round;
  }
  // Block i is of rank + i: turn the row so that block r is of rank r.
  std::rotate(blocks.begin(), blocks.end() - options_.rank % static_cast<int>(blocks.size()),
              blocks.end());
  return blocks;
}

Status ControlChannel::Core::send_step(int to, const GatherStep& step) {
  const Bytes payload = step.encode();
  const std::lock_guard lock(mutex_);
  if (failure_) {
    return Unexpected(failure_->error());
  }
  if (leaving_ || closed_) {
    return gyre::fail(Code::invalid_usage, "This rank has left the communicator.");
  }
  links_.at(to).connection->send(static_cast<net::FrameType>(Message::gather), payload);
  return {};
}

Result<GatherStep> ControlChannel::Core::await_step(int from, std::uint8_t round,
                                                    GatherStep::Kind kind, Deadline deadline) {
  std::optional<GatherStep> step;
  std::string who;
  bool left = false;
  {
    std::unique_lock lock(mutex_);
    const StepKey key{from, sequence_, round};
    const Link& link = links_.at(from);
    changed_.wait_until(lock, deadline,
                        [&] { return failure_.has_value() || inbox_.contains(key) || link.left; });
    if (failure_) {
      return Unexpected(failure_->error());
    }
    if (auto node = inbox_.extract(key)) {
      step = std::move(node.mapped());
    }
    who = link.who;
    left = link.left;
  }
  if (step && step->kind == kind) {
    return std::move(*step);
  }
  if (step) {
    return fail_with(
        from, Code::invalid_usage,
        fmt::format("Rank {} called {} where rank {} called {}: all ranks must make "
                    "the same calls in the same order.",
                    options_.rank, name_of_kind(kind), from, name_of_kind(step->kind)));
  }
  if (left) {
    return fail_with(from, Code::invalid_usage,
                     fmt::format("{} left the communicator while rank {} waits for it in {}.",
                                 capitalised(who), options_.rank, name_of_kind(kind)));
  }
  return fail_with(from, Code::timeout,
                   fmt::format("Rank {} waited in {} until its deadline for {}, or for a rank that "
                               "this one waits for. Is it busy elsewhere, or stopped?",
                               options_.rank, name_of_kind(kind), who));
}

}  // namespace gyre::bootstrap

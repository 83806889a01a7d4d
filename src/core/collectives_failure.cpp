// SPDX-License-Identifier: Apache-2.0
// What a collective does and says when it cannot be finished.
#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/core.h>

#include "base/log.h"
#include "core/collectives.h"

namespace gyre::core {

using engine::Outcome;

namespace {

// How long peers have to confirm that they let go of this rank's buffers. A rank that runs sees a
// failure within microseconds, one that computes within a scheduler's slice.
constexpr std::chrono::milliseconds confirmation_time{300};

// How long a rank waits for others to find out what went wrong: a few looks of the waiter.
constexpr std::chrono::milliseconds explanation_time{400};

}  // namespace

Error Collectives::cause() const {
  const auto cause = parts_.failure.cause();
  return cause ? cause->error : Error{Code::internal_error, "The communicator has failed."};
}

// Messages of calls that differ may go different ways, and then no tag meets another one. Each rank
// publishes what it calls, so one that waits too long can look.
bool Collectives::find_deviant() {
  if (parts_.endpoint == nullptr) {
    return false;
  }
  if (exchanging_) {
    return exchange_.find_misfit() || find_deadlock();
  }
  for (const int peer : peers_) {
    if (first_difference(peer) != 0) {
      deviant_ = peer;
      return true;
    }
  }
  return find_deadlock();
}

// The number of the first call that this rank and the peer made differently, as far as both are still
// known; 0 if there is none.
std::uint64_t Collectives::first_difference(int peer) const {
  const std::uint64_t newest = std::min(parts_.endpoint->newest_call_of(peer), sequence_);
  const std::uint64_t known = std::min<std::uint64_t>(history_.size() - 1, sequence_ - 1);
  for (std::uint64_t call = sequence_ - known; call <= newest; ++call) {
    const auto theirs = parts_.endpoint->call_of(peer, call);
    if (theirs && *theirs != history_[call % history_.size()]) {
      return call;
    }
  }
  return 0;
}

// A message of another call has come, and what the peer made meanwhile has overwritten which one it
// was. Somebody who waits for this rank still knows.
void Collectives::let_others_explain() const {
  const auto deadline = std::chrono::steady_clock::now() + explanation_time;
  while (!parts_.failure.failed() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
}

// The rank that this one waits for waits for a message that this one has yet to send. Larger circles
// end by the timeout.
bool Collectives::find_deadlock() {
  const int peer = exchanging_ ? exchange_.blamed() : blamed();
  if (peer < 0 || !exchange_.is_missed_by(peer)) {
    return false;
  }
  waits_for_us_ = peer;
  return true;
}

Status Collectives::fail_with(Outcome outcome, int peer) {
  if (outcome == Outcome::mismatch && deviant_ >= 0) {
    peer = deviant_;
  }
  if (outcome == Outcome::mismatch && !exchanging_ && waits_for_us_ < 0 &&
      first_difference(peer) == 0) {
    let_others_explain();
  }
  if (outcome != Outcome::aborted && !parts_.failure.failed()) {
    const Error error =
        outcome == Outcome::mismatch ? explain_mismatch(peer) : explain_timeout(peer);
    parts_.fail_everywhere(outcome == Outcome::mismatch ? -1 : peer, error);
  }
  waiter_.progressed();
  return Unexpected(cause());
}

// Both sides find the same words, whichever looks first: the lower rank is named first.
Error Collectives::explain_mismatch(int peer) {
  if (waits_for_us_ >= 0) {
    return explain_deadlock(waits_for_us_);
  }
  if (exchanging_) {
    return explain_misfit(peer);
  }
  const std::uint64_t different = first_difference(peer);
  const std::uint64_t call = different != 0 ? different : sequence_;
  const auto theirs = different != 0 ? parts_.endpoint->call_of(peer, call) : std::nullopt;
  const Call own = decode(history_[call % history_.size()]);
  std::string mine = describe(own);
  std::string other = theirs ? describe(decode(*theirs)) : "another call";
  if (theirs && mine == other) {
    mine += " by " + describe_plan(own);
    other += " by " + describe_plan(decode(*theirs));
  }
  const bool first = options_.rank < peer;
  return {Code::invalid_usage,
          fmt::format("The ranks do not make the same call: as call {} on this communicator rank "
                      "{} makes {} and rank {} makes {}. Every rank must make the same calls with "
                      "the same arguments in the same order; look for a branch that depends on the "
                      "rank, or for sizes that differ between ranks.",
                      number_of(call), std::min(options_.rank, peer), first ? mine : other,
                      std::max(options_.rank, peer), first ? other : mine)};
}

Error Collectives::explain_misfit(int peer) {
  return {
      Code::invalid_usage,
      exchange_.explain_misfit(peer) +
          ". What is received must have the count and the type of what is sent, in the order in "
          "which it is sent."};
}

Error Collectives::explain_deadlock(int peer) {
  const std::string here = exchanging_ ? exchange_.describe_wait(peer)
                                       : fmt::format("rank {} has not come to call {}, {}", peer,
                                                     number_of(sequence_), describe(current_));
  return {Code::invalid_usage,
          fmt::format("Rank {0} and rank {1} wait for each other: {2}, and on rank {0} {3}. Make "
                      "them in an order that both can follow, or put sends and receives between "
                      "gyreGroupStart and gyreGroupEnd.",
                      options_.rank, peer, exchange_.describe_missed_by(peer), here)};
}

Error Collectives::explain_timeout(int peer) {
  if (exchanging_) {
    const std::uint64_t newest = parts_.endpoint->newest_call_of(peer);
    const auto call = parts_.endpoint->call_of(peer, newest);
    return {
        Code::timeout,
        fmt::format("An exchange of messages on rank {} waited {} s without progress: {}. The "
                    "newest collective call of rank {} is {}. It may be stopped, stuck "
                    "elsewhere, or slower than the limit allows (GYRE_TIMEOUT or timeoutSeconds "
                    "of the communicator's configuration).",
                    options_.rank, options_.timeout_s, exchange_.describe_wait(peer), peer,
                    call ? fmt::format("number {}, {}", number_of(newest), describe(decode(*call)))
                         : "not to be seen")};
  }
  std::string absent;
  for (const int rank : peers_) {
    // A rank may be far ahead: a root does not wait for those that it sends to.
    if (parts_.endpoint->newest_call_of(rank) < sequence_) {
      absent += fmt::format("{}{}", absent.empty() ? "" : ", ", rank);
    }
  }
  const std::string who = absent.empty()
                              ? fmt::format("rank {} made the call too but moved no data", peer)
                              : fmt::format("rank(s) {} did not make this call", absent);
  return {Code::timeout,
          fmt::format(
              "Call {}, {}, on rank {} waited {} s without progress: {}. They may be stopped, "
              "stuck elsewhere, or slower than the limit allows (GYRE_TIMEOUT or "
              "timeoutSeconds of the communicator's configuration).",
              number_of(sequence_), describe(current_), options_.rank, options_.timeout_s, who)};
}

void Collectives::note_failure() {
  // seq_cst: the other side of the agreement in run_direct.
  if (parts_.endpoint != nullptr && in_direct_.load(std::memory_order_seq_cst) == 0) {
    parts_.endpoint->set_quiesced();
  }
}

bool Collectives::peers_let_go() const {
  const auto cause = parts_.failure.cause();
  const bool culprit_died = cause && cause->error.code == Code::remote_error;
  return std::ranges::all_of(peers_, [&](int peer) {
    return (culprit_died && peer == cause->culprit) || parts_.endpoint->is_quiesced(peer);
  });
}

// The buffers go back to the caller, so nobody may write them any more. A peer that does not
// confirm (it may be stopped, and wake up in the middle of a store) keeps the old pages; the caller
// gets copies.
void Collectives::quiesce(const Entry& mine) {
  parts_.endpoint->set_quiesced();
  const auto deadline = std::chrono::steady_clock::now() + confirmation_time;
  while (!peers_let_go() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  if (peers_let_go()) {
    return;
  }
  log::info(log::Subsystem::shm,
            "A peer did not confirm that it let go of shared buffers: their pages are replaced by "
            "private copies.");
  for (const auto region : {mine.send.region, mine.receive.region}) {
    if (region == 0) {
      continue;
    }
    if (const Status detached = parts_.allocator.detach(region); !detached) {
      log::warn(log::Subsystem::shm, "{}", detached.error().message);
    }
  }
}

}  // namespace gyre::core

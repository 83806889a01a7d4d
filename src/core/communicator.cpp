// SPDX-License-Identifier: Apache-2.0
#include "core/communicator.h"

#include <fmt/core.h>

#include "base/log.h"
#include "core/process.h"

namespace gyre::core {

Communicator::Communicator(Process& process, const CommunicatorOptions& options)
    : process_(process),
      options_(options),
      deadline_(net::after(options.init_timeout)),
      failure_(std::make_shared<FailureState>()) {}

Communicator::~Communicator() {
  wait_for_queued();
  failure_->set_waker({});
  for (const auto& [ticket, registration] : registrations_) {
    if (registration.shared_in_place) {
      static_cast<void>(process_.allocator().unshare(registration.buffer, registration.bytes));
    }
  }
  if (control_ && !failure_->failed()) {
    control_->goodbye();
  }
  control_.reset();
}

Status Communicator::finalize() {
  if (finalized_ || !control_) {
    return {};
  }
  if (const auto cause = failure_->cause()) {
    return Unexpected(cause->error);
  }
  // As long as a collective may wait: the others may still be on their way here.
  const auto limit = options_.timeout_s > 0 ? std::chrono::seconds(options_.timeout_s)
                                            : std::chrono::seconds(std::chrono::hours(24 * 365));
  GYRE_TRY(control_->barrier(net::after(limit)));
  finalized_ = true;
  return {};
}

void Communicator::wait_for_queued() {
  std::unique_lock lock(queue_mutex_);
  queue_empty_.wait(lock, [this] { return !has_queued(); });
}

void Communicator::enqueue(const std::shared_ptr<Stream>& stream,
                           std::function<Status(Communicator&)> operation) {
  if (queued_on_ != stream.get()) {
    wait_for_queued();
    queued_on_ = stream.get();
  }
  {
    const std::lock_guard lock(queue_mutex_);
    // relaxed: the stream's own lock hands the task over.
    queued_.fetch_add(1, std::memory_order_relaxed);
  }
  stream->enqueue([this, operation = std::move(operation)] {
    Status status = operation(*this);
    end_queued();
    return status;
  });
}

void Communicator::end_queued() {
  const std::lock_guard lock(queue_mutex_);
  // release: see has_queued.
  if (queued_.fetch_sub(1, std::memory_order_release) == 1) {
    queue_empty_.notify_all();
  }
}

void Communicator::abort() {
  const std::string text = fmt::format("rank {} called gyreCommAbort.", options_.rank);
  failure_->set({{Code::aborted, text}, options_.rank});
  if (control_) {
    control_->fail(options_.rank, Code::remote_error, text);
  }
}

void Communicator::fail_everywhere(int culprit, const Error& error) {
  if (control_) {
    control_->fail(culprit, error.code, error.message);
    // The channel keeps the first cause of all ranks that has come here: ours, or an earlier one.
    if (const auto first = control_->failure()) {
      failure_->set({first->error(), first->culprit});
      return;
    }
  }
  failure_->set({error, culprit});
}

// On the control thread.
void Communicator::note_failure(const bootstrap::Failure& failure) {
  log::info(log::Subsystem::init, "communicator {} failed: {}", options_.name, failure.text);
  failure_->set({failure.error(), failure.culprit});
}

Result<std::uint64_t> Communicator::add_registration(void* buffer, std::size_t bytes,
                                                     bool share_in_place) {
  if (share_in_place) {
    const auto region = process_.allocator().share(buffer, bytes);
    if (!region) {
      return Unexpected(region.error());
    }
  }
  registrations_[next_registration_] = {buffer, bytes, share_in_place};
  return next_registration_++;
}

Status Communicator::remove_registration(std::uint64_t ticket) {
  const auto found = registrations_.find(ticket);
  if (found == registrations_.end()) {
    return fail(Code::invalid_argument,
                fmt::format("registration is {:#x}, which names no registration of this "
                            "communicator. Was it deregistered before?",
                            ticket));
  }
  const Registration registration = found->second;
  if (registration.shared_in_place) {
    GYRE_TRY(process_.allocator().unshare(registration.buffer, registration.bytes));
  }
  registrations_.erase(found);
  return {};
}

}  // namespace gyre::core

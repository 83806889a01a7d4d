// SPDX-License-Identifier: Apache-2.0
#include "core/group.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "core/api.h"

namespace gyre::core {

thread_local int Group::depth = 0;

namespace {

Status run_batch(Communicator& communicator, const Group::Batch& batch) {
  for (const Group::Operation& operation : batch.operations) {
    GYRE_TRY(operation(communicator));
  }
  return batch.messages.empty() ? Status() : communicator.collectives().exchange(batch.messages);
}

Status launch(Group::Batch batch) {
  Process* const process = Process::existing();
  const auto use = process->communicators().enter(ticket_of(batch.comm));
  if (use.get() == nullptr || process->forked()) {
    return refuse_entry(batch.comm, use.entry());
  }
  Communicator& communicator = *use.get();
  if (batch.stream == nullptr) {
    if (communicator.has_queued()) {
      communicator.wait_for_queued();
    }
    return run_batch(communicator, batch);
  }
  const auto stream = find_stream(batch.stream);
  if (!stream) {
    return Unexpected(stream.error());
  }
  communicator.enqueue(*stream, [kept = std::make_shared<Group::Batch>(std::move(batch))](
                                    Communicator& later) { return run_batch(later, *kept); });
  return {};
}

Status without_exceptions(const std::function<Status()>& job) noexcept {
  try {
    return job();
  } catch (const std::bad_alloc&) {
    return fail(Code::system_error, "Out of memory.");
  } catch (const std::exception& error) {
    return fail(Code::internal_error, error.what());
  }
}

// All at the same time: each may wait for what another one does. The first failure in their order.
Status run_together(std::span<const std::function<Status()>> jobs) {
  std::vector<Status> results(jobs.size());
  std::vector<std::thread> threads;
  Status started;
  for (std::size_t i = 1; i < jobs.size() && started; ++i) {
    try {
      threads.emplace_back([&, i] { results[i] = without_exceptions(jobs[i]); });
    } catch (const std::system_error& error) {
      started = system_failure("starting a thread for a group", error.code().value());
    }
  }
  if (started && !jobs.empty()) {
    results[0] = without_exceptions(jobs[0]);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const auto failed = std::ranges::find_if(results, [](const Status& result) { return !result; });
  GYRE_TRY(started);
  return failed != results.end() ? *failed : Status();
}

}  // namespace

Group& Group::of_this_thread() {
  thread_local Group group;
  return group;
}

void Group::refuse(const Error& error) {
  if (!refused_) {
    refused_ = error;
  }
}

void Group::add(std::function<Status()> task) {
  tasks_.push_back(std::move(task));
}

Status Group::add(gyreComm_t comm, gyreStream_t stream, Operation operation) {
  const auto batch = batch_of(comm, stream);
  if (!batch) {
    return Unexpected(batch.error());
  }
  (*batch)->operations.push_back(std::move(operation));
  return {};
}

Status Group::add(gyreComm_t comm, gyreStream_t stream, const Message& message) {
  const auto batch = batch_of(comm, stream);
  if (!batch) {
    return Unexpected(batch.error());
  }
  (*batch)->messages.push_back(message);
  return {};
}

Result<Group::Batch*> Group::batch_of(gyreComm_t comm, gyreStream_t stream) {
  for (Batch& batch : batches_) {
    if (batch.comm != comm) {
      continue;
    }
    if (batch.stream == stream) {
      return &batch;
    }
    return fail(Code::invalid_usage,
                "Calls of one group on one communicator name different streams: give them one "
                "stream, or make groups of their own.");
  }
  batches_.push_back({.comm = comm, .stream = stream, .operations = {}, .messages = {}});
  return &batches_.back();
}

Status Group::end() {
  if (depth == 0) {
    return fail(Code::invalid_usage,
                "gyreGroupEnd without gyreGroupStart: this thread has no open group.");
  }
  if (--depth > 0) {
    return {};
  }
  const auto batches = std::exchange(batches_, {});
  const auto tasks = std::exchange(tasks_, {});
  if (const auto refused = std::exchange(refused_, std::nullopt)) {
    return fail(
        refused->code,
        fmt::format("Nothing of this group was launched, since a call in it was refused: {}",
                    refused->message));
  }
  std::vector<std::function<Status()>> jobs(tasks.begin(), tasks.end());
  for (const Batch& batch : batches) {
    jobs.emplace_back([&batch] { return launch(batch); });
  }
  return jobs.size() == 1 ? jobs.front()() : run_together(jobs);
}

}  // namespace gyre::core

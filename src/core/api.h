// SPDX-License-Identifier: Apache-2.0
// What every function of the C API begins and ends with: no exception leaves it, tickets are
// looked up, failures get their text.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include <fmt/core.h>

#include "core/group.h"
#include "core/last_error.h"
#include "core/process.h"
#include "gyre/gyre.h"

namespace gyre::core {

// Runs `body`, a function that returns Status.
template <typename Body>
gyreResult_t at_the_border(Body&& body) noexcept {
  try {
    const Status status = std::forward<Body>(body)();
    if (!status && Group::is_open()) [[unlikely]] {
      Group::of_this_thread().refuse(status.error());
    }
    return status ? gyreSuccess : report(status.error());
  } catch (const std::bad_alloc&) {
    return report(Error{Code::system_error, "Out of memory."});
  } catch (const std::exception& error) {
    return report(Error{Code::internal_error, error.what()});
  }
}

[[nodiscard]] inline std::uint64_t ticket_of(gyreComm_t comm) {
  return reinterpret_cast<std::uintptr_t>(comm);
}

[[nodiscard]] Unexpected no_such_communicator(gyreComm_t comm);
[[nodiscard]] Unexpected refuse_entry(gyreComm_t comm, Entry entry);
[[nodiscard]] Unexpected null_argument(const char* argument);

// The stream behind a handle that is not NULL.
[[nodiscard]] Result<std::shared_ptr<Stream>> find_stream(gyreStream_t stream);

// Runs body(Communicator&) inside the communicator, beside what its streams are doing.
template <typename Body>
gyreResult_t beside_streams(gyreComm_t comm, Body&& body) noexcept {
  return at_the_border([&]() -> Status {
    Process* const process = Process::existing();
    if (process == nullptr) [[unlikely]] {
      return no_such_communicator(comm);
    }
    const auto use = process->communicators().enter(ticket_of(comm));
    if (use.get() == nullptr || process->forked()) [[unlikely]] {
      return refuse_entry(comm, use.entry());
    }
    return body(*use.get());
  });
}

// The same after all that was queued before.
template <typename Body>
gyreResult_t in_communicator(gyreComm_t comm, Body&& body) noexcept {
  return beside_streams(comm, [&](Communicator& found) -> Status {
    if (found.has_queued()) [[unlikely]] {
      found.wait_for_queued();
    }
    return body(found);
  });
}

// Runs operation(Communicator&), whose arguments were checked: now without a stream, else in its
// turn on the stream; inside a group when the group ends.
template <typename Operation>
Status run_or_queue(Communicator& communicator, gyreComm_t comm, gyreStream_t stream,
                    Operation operation) {
  if (Group::is_open()) [[unlikely]] {
    return Group::of_this_thread().add(comm, stream, Group::Operation(std::move(operation)));
  }
  if (stream == nullptr) [[likely]] {
    if (communicator.has_queued()) [[unlikely]] {
      communicator.wait_for_queued();
    }
    return operation(communicator);
  }
  const auto found = find_stream(stream);
  if (!found) {
    return Unexpected(found.error());
  }
  communicator.enqueue(*found, operation);
  return {};
}

}  // namespace gyre::core

// SPDX-License-Identifier: Apache-2.0
// gyre.h: library, communicators, operations.
#include <algorithm>
#include <cstring>
#include <thread>

#include "bootstrap/launcher.h"
#include "core/api.h"
#include "core/init.h"
#include "core/validate.h"

extern char** environ;

namespace gyre::core {

Unexpected no_such_communicator(gyreComm_t comm) {
  return fail(
      Code::invalid_argument,
      fmt::format("comm is {:#x}, which is no communicator of this process: it was destroyed, "
                  "or never made here.",
                  ticket_of(comm)));
}

Unexpected refuse_entry(gyreComm_t comm, Entry entry) {
  if (Process::existing()->forked()) {
    return fail(
        Code::invalid_usage,
        "This process was forked from the one that made the communicator, and cannot use it: "
        "make a new communicator after fork, in a program started by exec.");
  }
  if (entry == Entry::in_use) {
    return fail(Code::invalid_usage,
                "Another thread is inside this communicator: one communicator takes one call at a "
                "time. Use one communicator for each thread.");
  }
  return no_such_communicator(comm);
}

Unexpected null_argument(const char* argument) {
  return fail(Code::invalid_argument, fmt::format("{} is NULL.", argument));
}

namespace {

// What every way to make a communicator begins with.
struct Beginning {
  Process* process;
  CommunicatorOptions options;
};

Result<Beginning> begin_init(const gyreComm_t* comm, const gyreConfig_t* config) {
  if (comm == nullptr) {
    return null_argument("comm");
  }
  const auto process = Process::get();
  if (!process) {
    return Unexpected(process.error());
  }
  const auto options = options_from(config, defaults_of((*process)->settings()));
  if (!options) {
    return Unexpected(options.error());
  }
  return Beginning{*process, *options};
}

Status init_rank(gyreComm_t* comm, int nranks, const gyreUniqueId& id, int rank,
                 const gyreConfig_t* config) {
  if (nranks < 1) {
    return fail(Code::invalid_argument,
                fmt::format("nranks is {}: it must be at least 1.", nranks));
  }
  GYRE_TRY(check_rank("rank", rank, nranks));
  auto beginning = begin_init(comm, config);
  if (!beginning) {
    return Unexpected(beginning.error());
  }
  const auto decoded = bootstrap::UniqueId::decode(std::as_bytes(std::span(id.internal)));
  if (!decoded) {
    return Unexpected(decoded.error());
  }
  beginning->options.id = *decoded;
  beginning->options.rank = rank;
  beginning->options.ranks = nranks;
  return connect(*beginning->process, beginning->options, comm);
}

Status init_environment(gyreComm_t* comm, const gyreConfig_t* config) {
  auto beginning = begin_init(comm, config);
  if (!beginning) {
    return Unexpected(beginning.error());
  }
  Process& process = *beginning->process;
  CommunicatorOptions& options = beginning->options;
  const auto environment = bootstrap::Environment::from(environ);
  auto launch = bootstrap::find_launch({.settings = process.settings(),
                                        .environment = environment,
                                        .loop = process.loop(),
                                        .deadline = net::after(options.init_timeout),
                                        .library_version = GYRE_VERSION_CODE,
                                        .instance = process.next_instance(),
                                        .session = &process.launcher_session()});
  if (!launch) {
    return Unexpected(std::move(launch).error());
  }
  if (launch->root) {
    process.keep(std::move(launch->root));
  }
  options.id = launch->id;
  options.rank = launch->rank;
  options.ranks = launch->size;
  return connect(process, options, comm);
}

// The destructor of a communicator says goodbye or leaves at once, as its state demands.
Status destroy(gyreComm_t comm) {
  Process* const process = Process::existing();
  if (process == nullptr) {
    return no_such_communicator(comm);
  }
  auto use = process->communicators().enter(ticket_of(comm));
  // In a forked child it stays: its connections are the parent's, who still uses them.
  if (use.get() == nullptr || process->forked()) {
    return refuse_entry(comm, use.entry());
  }
  Status finalized;
  if (!use.get()->failure().failed()) {
    finalized = use.get()->finalize();
  }
  const auto communicator = process->communicators().remove(std::move(use));
  return finalized;
}

Status abort(gyreComm_t comm) {
  Process* const process = Process::existing();
  if (process != nullptr && process->forked()) {
    return refuse_entry(comm, Entry::entered);
  }
  if (process == nullptr || !process->communicators().with_locked(
                                ticket_of(comm), [](Communicator& found) { found.abort(); })) {
    return no_such_communicator(comm);
  }
  for (;;) {
    auto use = process->communicators().enter(ticket_of(comm));
    if (use.get() != nullptr) {
      const auto communicator = process->communicators().remove(std::move(use));
      return {};
    }
    if (use.entry() == Entry::unknown) {
      return {};  // another thread destroyed it meanwhile
    }
    std::this_thread::yield();  // the blocked call is on its way out
  }
}

// For questions that may be asked while a call is blocked.
template <typename Body>
gyreResult_t about_communicator(gyreComm_t comm, Body&& body) noexcept {
  return at_the_border([&]() -> Status {
    Process* const process = Process::existing();
    if (process == nullptr || !process->communicators().with_locked(ticket_of(comm), body)) {
      return no_such_communicator(comm);
    }
    return {};
  });
}

}  // namespace
}  // namespace gyre::core

using namespace gyre::core;
using gyre::Status;

extern "C" {

const char* gyreGetErrorString(gyreResult_t result) {
  static constexpr const char* names[gyreNumResults] = {
      "success",          "unhandled CUDA error", "system error", "internal error",
      "invalid argument", "invalid usage",        "remote error", "in progress",
      "timeout",          "not supported",        "aborted"};
  return result >= 0 && result < gyreNumResults ? names[result] : "unknown result";
}

const char* gyreGetLastError(gyreComm_t comm) {
  if (comm != nullptr) {
    static_cast<void>(about_communicator(comm, [](Communicator& found) {
      if (const auto cause = found.failure().cause()) {
        report(cause->error);
      }
    }));
  }
  return last_error().c_str();
}

gyreResult_t gyreGetVersion(int* version) {
  return at_the_border([&]() -> Status {
    if (version == nullptr) {
      return null_argument("version");
    }
    *version = GYRE_VERSION_CODE;
    return {};
  });
}

gyreResult_t gyreGetUniqueId(gyreUniqueId* id) {
  return at_the_border([&]() -> Status {
    if (id == nullptr) {
      return null_argument("id");
    }
    const auto process = Process::get();
    if (!process) {
      return gyre::Unexpected(process.error());
    }
    const auto made = make_unique_id(**process);
    if (!made) {
      return gyre::Unexpected(made.error());
    }
    *id = *made;
    return {};
  });
}

gyreResult_t gyreCommInitRank(gyreComm_t* comm, int nranks, gyreUniqueId id, int rank) {
  return at_the_border([&] { return init_rank(comm, nranks, id, rank, nullptr); });
}

gyreResult_t gyreCommInitRankConfig(gyreComm_t* comm, int nranks, gyreUniqueId id, int rank,
                                    const gyreConfig_t* config) {
  return at_the_border([&] { return init_rank(comm, nranks, id, rank, config); });
}

gyreResult_t gyreCommInitEnvironment(gyreComm_t* comm, const gyreConfig_t* config) {
  return at_the_border([&] { return init_environment(comm, config); });
}

gyreResult_t gyreCommFinalize(gyreComm_t comm) {
  return in_communicator(comm, [](Communicator& found) { return found.finalize(); });
}

gyreResult_t gyreCommDestroy(gyreComm_t comm) {
  return at_the_border([&] { return destroy(comm); });
}

gyreResult_t gyreCommAbort(gyreComm_t comm) {
  return at_the_border([&] { return abort(comm); });
}

gyreResult_t gyreCommGetAsyncError(gyreComm_t comm, gyreResult_t* async_error) {
  if (async_error == nullptr) {
    return report(null_argument("asyncError").value());
  }
  return about_communicator(comm, [&](Communicator& found) {
    const auto cause = found.failure().cause();
    *async_error = cause ? to_result(cause->error.code) : gyreSuccess;
  });
}

gyreResult_t gyreCommCount(gyreComm_t comm, int* count) {
  if (count == nullptr) {
    return report(null_argument("count").value());
  }
  return about_communicator(comm, [&](Communicator& found) { *count = found.ranks(); });
}

gyreResult_t gyreCommUserRank(gyreComm_t comm, int* rank) {
  if (rank == nullptr) {
    return report(null_argument("rank").value());
  }
  return about_communicator(comm, [&](Communicator& found) { *rank = found.rank(); });
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// gyre.h: streams.
#include "core/api.h"
#include "core/stream.h"

namespace gyre::core {
namespace {

std::uint64_t ticket_of_stream(gyreStream_t stream) {
  return reinterpret_cast<std::uintptr_t>(stream);
}

// Runs body(Stream&). A stream may be used by several threads at once, so it is held by a shared
// owner while the body runs and not entered.
template <typename Body>
gyreResult_t with_stream(gyreStream_t stream, Body&& body) noexcept {
  return at_the_border([&]() -> Status {
    const auto found = find_stream(stream);
    return found ? body(**found) : Status(Unexpected(found.error()));
  });
}

}  // namespace

Result<std::shared_ptr<Stream>> find_stream(gyreStream_t stream) {
  Process* const process = Process::existing();
  std::shared_ptr<Stream> found;
  if (process != nullptr) {
    process->streams().with_locked(ticket_of_stream(stream),
                                   [&](std::shared_ptr<Stream>& held) { found = held; });
  }
  if (!found) {
    return fail(
        Code::invalid_argument,
        fmt::format("stream is {}, which is no stream of gyreStreamCreate. A CUDA stream does "
                    "not order work on CPU buffers: pass NULL or a Gyre stream for those.",
                    stream));
  }
  return found;
}

}  // namespace gyre::core

using namespace gyre::core;
using gyre::Status;

extern "C" {

gyreResult_t gyreStreamCreate(gyreStream_t* stream) {
  return at_the_border([&]() -> Status {
    if (stream == nullptr) {
      return null_argument("stream");
    }
    const auto process = Process::get();
    if (!process) {
      return gyre::Unexpected(process.error());
    }
    auto made = Stream::create();
    if (!made) {
      return gyre::Unexpected(std::move(made).error());
    }
    const std::uint64_t ticket =
        (*process)->streams().add(std::make_unique<std::shared_ptr<Stream>>(std::move(*made)));
    if (ticket == 0) {
      return gyre::fail(gyre::Code::system_error,
                        "This process holds 65536 streams: destroy some.");
    }
    *stream = reinterpret_cast<gyreStream_t>(static_cast<std::uintptr_t>(ticket));
    return {};
  });
}

gyreResult_t gyreStreamSynchronize(gyreStream_t stream) {
  return with_stream(stream, [](Stream& found) { return found.synchronize(); });
}

gyreResult_t gyreStreamQuery(gyreStream_t stream) {
  return with_stream(stream, [](Stream& found) { return found.query(); });
}

gyreResult_t gyreStreamDestroy(gyreStream_t stream) {
  return with_stream(stream, [&](Stream& found) -> Status {
    const Status done = found.synchronize();
    auto use = Process::existing()->streams().enter(ticket_of_stream(stream));
    if (use.get() != nullptr) {
      const auto removed = Process::existing()->streams().remove(std::move(use));
    }
    return done;
  });
}

}  // extern "C"

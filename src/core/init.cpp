// SPDX-License-Identifier: Apache-2.0
#include "core/init.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <fmt/core.h>

#include "bootstrap/root.h"
#include "core/group.h"
#include "core/process.h"

namespace gyre::core {
namespace {

Result<gyreConfig_t> read_config(const gyreConfig_t* given) {
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  if (given == nullptr) {
    return config;
  }
  if (given->size < offsetof(gyreConfig_t, blocking) || given->size > 4096) {
    return fail(
        Code::invalid_argument,
        fmt::format("config->size is {}: start from GYRE_CONFIG_INITIALIZER.", given->size));
  }
  if (given->version <= 0 || given->version / 10000 > GYRE_MAJOR) {
    return fail(
        Code::invalid_argument,
        fmt::format("config->version is {}, and this library is {}: the program was built for "
                    "another version of Gyre, or did not start from GYRE_CONFIG_INITIALIZER.",
                    given->version, GYRE_VERSION_CODE));
  }
  // A shorter struct is an older one: what it lacks stays at its default.
  std::memcpy(&config, given, std::min(given->size, sizeof(config)));
  if (config.blocking == 0) {
    return fail(Code::not_supported, "config->blocking is 0: only blocking init is built so far.");
  }
  for (const auto& [name, value] : {std::pair("initTimeoutSeconds", config.initTimeoutSeconds),
                                    std::pair("timeoutSeconds", config.timeoutSeconds)}) {
    if (value < 0 && value != GYRE_UNDEFINED_INT) {
      return fail(Code::invalid_argument,
                  fmt::format("config->{} is {}: it must not be negative.", name, value));
    }
  }
  return config;
}

Status connect_now(Process& process, const CommunicatorOptions& options, gyreComm_t* comm) {
  auto communicator = Communicator::connect(process, options);
  if (!communicator) {
    return Unexpected(std::move(communicator).error());
  }
  const std::uint64_t ticket = process.communicators().add(std::move(*communicator));
  if (ticket == 0) {
    return fail(Code::system_error, "This process holds 65536 communicators: destroy some.");
  }
  *comm = reinterpret_cast<gyreComm_t>(static_cast<std::uintptr_t>(ticket));
  return {};
}

}  // namespace

CommunicatorOptions defaults_of(const Settings& settings) {
  CommunicatorOptions options;
  options.plan_file = settings.plan_file;
  options.init_timeout = std::chrono::seconds(settings.init_timeout_s);
  options.timeout_s = settings.timeout_s;
  return options;
}

Result<CommunicatorOptions> options_from(const gyreConfig_t* given, CommunicatorOptions defaults) {
  const auto config = read_config(given);
  if (!config) {
    return Unexpected(config.error());
  }
  if (config->initTimeoutSeconds != GYRE_UNDEFINED_INT) {
    defaults.init_timeout = std::chrono::seconds(config->initTimeoutSeconds);
  }
  if (config->timeoutSeconds != GYRE_UNDEFINED_INT) {
    defaults.timeout_s = config->timeoutSeconds;
  }
  if (config->commName != nullptr) {
    defaults.name = config->commName;
  }
  if (config->tuner != nullptr) {
    defaults.tuner = {config->tuner, config->tunerContext};
  }
  if (config->planFile != nullptr) {
    defaults.plan_file = config->planFile;
  }
  return defaults;
}

Status connect(Process& process, const CommunicatorOptions& options, gyreComm_t* comm) {
  if (Group::is_open()) {
    *comm = nullptr;
    Group::of_this_thread().add(
        [&process, options, comm] { return connect_now(process, options, comm); });
    return {};
  }
  return connect_now(process, options, comm);
}

Result<gyreUniqueId> make_unique_id(Process& process) {
  auto root = bootstrap::Root::create(process.loop(), process.network(), GYRE_VERSION_CODE);
  if (!root) {
    return Unexpected(std::move(root).error());
  }
  gyreUniqueId id;
  const auto encoded = (*root)->id().encode();
  std::memcpy(id.internal, encoded.data(), sizeof(id.internal));
  process.keep(std::move(*root));
  return id;
}

}  // namespace gyre::core

// SPDX-License-Identifier: Apache-2.0
#include "core/cost_file.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "gyre/gyre.h"

namespace gyre::core {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr double longest = 1;  // second: nothing that is kept takes so long

struct Field {
  const char* name;
  double plan::LinkCosts::*cost;
};
constexpr Field fields[] = {{"exchange_seconds", &plan::LinkCosts::exchange},
                            {"message_seconds", &plan::LinkCosts::message},
                            {"seconds_per_byte", &plan::LinkCosts::per_byte},
                            {"seconds_per_byte_large", &plan::LinkCosts::per_byte_large}};

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    // x86 has a name; Arm numbers.
    for (const std::string_view key : {"model name", "CPU part"}) {
      const std::size_t colon = line.find(": ");
      if (line.starts_with(key) && colon != std::string::npos) {
        return line.substr(colon + 2);
      }
    }
  }
  return "unknown CPU";
}

// The whole document; an empty one where there is none, or a broken one.
Json read_document(const std::string& path) {
  const auto text = read_text_file(path, most_bytes);
  Json document = text ? Json::parse(*text, nullptr, false) : Json();
  const bool usable = document.is_object() && document.contains("version") &&
                      document["version"] == GYRE_VERSION_CODE && document.contains("links") &&
                      document["links"].is_object();
  return usable ? document : Json{{"version", GYRE_VERSION_CODE}, {"links", Json::object()}};
}

}  // namespace

std::string cost_key(int ranks, std::size_t cpus) {
  return fmt::format("{}, {} CPUs, {} ranks", cpu_model(), cpus, ranks);
}

std::string cost_path(const std::string& setting) {
  if (!setting.empty()) {
    return setting;
  }
  const auto folder = [](const char* variable, const char* below) {
    const char* const value = std::getenv(variable);
    return value != nullptr && value[0] == '/' ? std::string(value) + below : std::string();
  };
  const std::string cache = folder("XDG_CACHE_HOME", "/gyre/costs.json");
  return !cache.empty() ? cache : folder("HOME", "/.cache/gyre/costs.json");
}

std::optional<plan::LinkCosts> read_costs(const std::string& path, const std::string& key) {
  const Json document = read_document(path);
  const auto entry = document["links"].find(key);
  if (entry == document["links"].end() || !entry->is_object()) {
    return std::nullopt;
  }
  plan::LinkCosts costs;
  for (const Field& field : fields) {
    const auto value = entry->find(field.name);
    if (value == entry->end() || !value->is_number()) {
      return std::nullopt;
    }
    costs.*field.cost = value->get<double>();
    if (!std::isfinite(costs.*field.cost) || costs.*field.cost < 0 || costs.*field.cost > longest) {
      return std::nullopt;
    }
  }
  return costs;
}

Status write_costs(const std::string& path, const std::string& key, const plan::LinkCosts& costs) {
  Json document = read_document(path);
  Json entry;
  for (const Field& field : fields) {
    entry[field.name] = costs.*field.cost;
  }
  document["links"][key] = entry;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string partial = fmt::format("{}.{}", path, ::getpid());
  {
    std::ofstream file(partial, std::ios::trunc);
    file << document.dump(1) << '\n';
    if (!file.flush()) {
      return fail(Code::system_error, fmt::format("{} cannot be written.", partial));
    }
  }
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) {
    return fail(Code::system_error,
                fmt::format("{} cannot be written: {}.", path, error.message()));
  }
  return {};
}

}  // namespace gyre::core

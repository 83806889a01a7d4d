// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/unique_fd.h"
#include "simulation/experiment.h"
#include "simulation/job.h"

namespace gyre::simulation {

namespace {

using Json = nlohmann::json;

std::string pack(const Result<Report>& result) {
  if (!result) {
    return Json{{"code", result.error().code}, {"error", result.error().message}}.dump();
  }
  Json ranks = Json::array();
  for (const RankReport& rank : result->ranks) {
    ranks.push_back({rank.seconds, rank.error, rank.culprit});
  }
  return Json{{"seconds", result->seconds},
              {"messages", result->messages},
              {"bytes", result->bytes},
              {"scale", result->scale},
              {"ranks", std::move(ranks)}}
      .dump();
}

Result<Report> unpack(const std::string& text) {
  const Json json = Json::parse(text);
  if (json.contains("error")) {
    return fail(json["code"].get<Code>(), json["error"]);
  }
  Report report{.seconds = json["seconds"],
                .messages = json["messages"],
                .bytes = json["bytes"],
                .scale = json["scale"],
                .ranks = {}};
  for (const Json& rank : json["ranks"]) report.ranks.push_back({rank[0], rank[1], rank[2]});
  return report;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) _exit(1);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int fd) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

// SimGrid throws what it does not expect: nothing of that may reach what the parent has on its stack.
std::string report_of_child(const Experiment& experiment) {
  try {
    return pack(simulate_here(experiment));
  } catch (const std::exception& exception) {
    return pack(
        fail(Code::internal_error, fmt::format("The simulator failed: {}.", exception.what())));
  }
}

}  // namespace

Result<Report> simulate(const Experiment& experiment) {
  int ends[2];
  if (::pipe(ends) != 0) {
    return system_failure("pipe");
  }
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return system_failure("fork");
  }
  if (child == 0) {
    write_all(writer.get(), report_of_child(experiment));
    _exit(0);  // nothing of the parent's is ended here
  }
  writer.reset();
  const std::string text = read_all(reader.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(Code::internal_error,
                fmt::format("The simulator ended before its report ({} {}): not enough memory for "
                            "so many ranks, or a bug.",
                            WIFSIGNALED(status) ? "signal" : "exit status",
                            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
  }
  return unpack(text);
}

}  // namespace gyre::simulation

// SPDX-License-Identifier: Apache-2.0
#include "base/settings_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/log.h"
#include "base/parse.h"

namespace gyre {
namespace {

constexpr std::int64_t kibibyte = 1024;
constexpr std::int64_t mebibyte = 1024 * kibibyte;
constexpr std::int64_t year_in_seconds = 366LL * 24 * 3600;
constexpr std::int64_t minute_in_microseconds = 60'000'000;

std::vector<std::string_view> subsystem_choices() {
  std::vector<std::string_view> names = {"ALL"};
  names.insert(names.end(), log::subsystem_names.begin(), log::subsystem_names.end());
  return names;
}

// How ranks find each other, and what is said.
std::vector<SettingRow> rows_of_jobs() {
  return {
      {"GYRE_DEBUG", TextRow{&Settings::debug, OneOf{{"WARN", "VERSION", "INFO", "TRACE"}}},
       "How much is logged. Errors and warnings always are."},
      {"GYRE_DEBUG_SUBSYS", TextRow{&Settings::debug_subsys, ListOf{subsystem_choices()}},
       "Parts of the library whose INFO and TRACE lines are logged. `^` before an item excludes "
       "it, "
       "before the list the whole list."},
      {"GYRE_DEBUG_FILE", TextRow{&Settings::debug_file, AnyText{}},
       "File that log lines are appended to; `%h` stands for the host, `%p` for the process id. "
       "Empty: stderr."},
      {"GYRE_COMM_ID", TextRow{&Settings::comm_id, HexDigits{256}, true},
       "The unique id in hex, handed to each rank by a launcher, beside GYRE_RANK and GYRE_NRANKS "
       "or the launcher's own variables. Secret."},
      {"GYRE_JOB_SECRET", TextRow{&Settings::job_secret, HexDigits{64}, true},
       "256-bit secret of a job that finds its ranks by MASTER_ADDR, the same on every rank. "
       "Secret."},
      {"GYRE_SOCKET_IFNAME", TextRow{&Settings::socket_ifname, AnyText{}},
       "Network interfaces to use: prefixes, separated by commas. `^` before the list excludes "
       "them, `=` asks for exact names. Empty: chosen."},
      {"GYRE_SOCKET_FAMILY", TextRow{&Settings::socket_family, OneOf{{"AF_INET", "AF_INET6"}}},
       "Address family of the network interfaces to use. Empty: either."},
      {"GYRE_PORT_RANGE", TextRow{&Settings::port_range, PortRange{}},
       "Ports to listen on, for hosts behind a packet filter. Empty: any free port."},
      {"GYRE_HOST_ID", TextRow{&Settings::host_id, AnyText{}},
       "Ranks with the same text are taken to share memory. Empty: found out."},
      {"GYRE_INIT_TIMEOUT",
       NumberRow{&Settings::init_timeout_s, Integer{1, year_in_seconds, "seconds"}},
       "All ranks must have joined a communicator within this time."},
      {"GYRE_TIMEOUT", NumberRow{&Settings::timeout_s, Integer{0, year_in_seconds, "seconds"}},
       "Longest wait for a peer inside a call. 0: for ever."},
  };
}

// How collectives run.
std::vector<SettingRow> rows_of_collectives() {
  return {
      {"GYRE_ALGO",
       TextRow{&Settings::algorithm,
               OneOf{{"ring", "oneshot", "twoshot", "chain", "binomial", "tree", "doubling",
                      "halving", "bruck", "pairwise", "pat", "hierarchical"}}},
       "Forces the algorithm, of collectives that have it. Empty: chosen by size."},
      {"GYRE_PROTO", TextRow{&Settings::protocol, OneOf{{"inline", "staged", "direct"}}},
       "Forces how bytes travel between ranks of one host. Empty: chosen by size and memory."},
      {"GYRE_CHUNK", NumberRow{&Settings::chunk_bytes, Bytes{0, 64 * mebibyte}},
       "Size of the pieces that a collective is cut into. 0: chosen."},
      {"GYRE_CHANNELS", NumberRow{&Settings::channels, Integer{0, 64, ""}},
       "Pieces that are in flight independently of each other. 0: chosen."},
      {"GYRE_SLOTS", NumberRow{&Settings::slots, Integer{0, 1024, ""}},
       "Slots for pieces per channel and peer; 1 counts as 2. 0: chosen."},
      {"GYRE_PLAN_FILE", TextRow{&Settings::plan_file, AnyText{}},
       "Files of plans of your own, separated by colons: calls that one is for run it "
       "(docs/plan-files.md). Rank 0 reads them for all ranks."},
      {"GYRE_COST_FILE", TextRow{&Settings::cost_file, AnyText{}},
       "File that keeps what links between ranks cost, which is measured once for each shape of "
       "machine and job. `none`: nothing is measured, rules alone choose. Empty: "
       "`gyre/costs.json` in the user's cache."},
      {"GYRE_REPRODUCIBLE", NumberRow{&Settings::reproducible, Integer{0, 1, ""}},
       "1: every reduction combines the contributions in the order of ranks, in one step, so that "
       "results do not depend on algorithm, protocol, chunks or placement. An algorithm that does "
       "otherwise is not chosen, and refused when forced."},
      {"GYRE_SPIN_US",
       NumberRow{&Settings::spin_us, Integer{-1, minute_in_microseconds, "microseconds"}},
       "How long a waiting rank polls before it yields its CPU. -1: chosen by CPUs and ranks."},
      {"GYRE_YIELD_US",
       NumberRow{&Settings::yield_us, Integer{-1, minute_in_microseconds, "microseconds"}},
       "How long a waiting rank then yields before it sleeps. -1: chosen by CPUs and ranks."},
      {"GYRE_SIMD", TextRow{&Settings::simd, OneOf{{"scalar"}}},
       "`scalar` forces the scalar reduction kernels. Empty: the best that this CPU has."},
  };
}

std::vector<SettingRow> make_table() {
  std::vector<SettingRow> rows = rows_of_jobs();
  std::ranges::move(rows_of_collectives(), std::back_inserter(rows));
  return rows;
}

// Parsing returns the canonical text or number, or nothing: assign() words the error, so that all
// variables speak alike.
std::optional<std::string> parse(const AnyText& /*form*/, std::string_view text) {
  return std::string(text);
}
std::optional<std::string> parse(const OneOf& form, std::string_view text) {
  return parse_choice(text, form.choices);
}
std::optional<std::string> parse(const ListOf& form, std::string_view text) {
  return parse_choice_list(text, form.choices);
}
std::optional<std::string> parse(const HexDigits& form, std::string_view text) {
  return parse_hex_digits(text, form.count);
}
std::optional<std::string> parse(const PortRange& /*form*/, std::string_view text) {
  return parse_port_range(text);
}
std::optional<std::int64_t> parse(const Integer& form, std::string_view text) {
  const auto number = parse_integer(text);
  return number && *number >= form.least && *number <= form.most ? number : std::nullopt;
}
std::optional<std::int64_t> parse(const Bytes& form, std::string_view text) {
  const auto number = parse_bytes(text);
  return number && *number >= form.least && *number <= form.most ? number : std::nullopt;
}

std::string describe(const AnyText& /*form*/) {
  return "any text";
}
std::string describe(const OneOf& form) {
  return fmt::format("{}", fmt::join(form.choices, ", "));
}
std::string describe(const ListOf& form) {
  return fmt::format("list of {}", fmt::join(form.choices, ", "));
}
std::string describe(const HexDigits& form) {
  return fmt::format("{} hex digits", form.count);
}
std::string describe(const PortRange& /*form*/) {
  return "first-last, each 1 to 65535";
}
std::string describe(const Integer& form) {
  return fmt::format("{} to {}{}{}", form.least, form.most, form.unit.empty() ? "" : " ",
                     form.unit);
}
std::string describe(const Bytes& form) {
  return fmt::format("{} to {} bytes; K, M, G may follow the number", format_bytes(form.least),
                     format_bytes(form.most));
}

bool is_secret(const SettingRow& row) {
  const auto* text = std::get_if<TextRow>(&row.value);
  return text != nullptr && text->secret;
}

// True when `text` was understood; the field keeps its value otherwise.
template <typename Value>
bool store(const Value& value, std::string_view text, Settings& settings) {
  if (text.empty()) {
    settings.*value.member = Settings{}.*value.member;
    return true;
  }
  auto parsed = std::visit([&](const auto& form) { return parse(form, text); }, value.form);
  if (!parsed) {
    return false;
  }
  settings.*value.member = std::move(*parsed);
  return true;
}

}  // namespace

std::span<const SettingRow> setting_table() {
  static const std::vector<SettingRow> table = make_table();
  return table;
}

bool is_program_variable(std::string_view name) {
  constexpr std::array<std::string_view, 3> names = {"GYRE_CONF_FILE", "GYRE_RANK", "GYRE_NRANKS"};
  return name.starts_with("GYRE_TESTS_") ||
         std::find(names.begin(), names.end(), name) != names.end();
}

Status assign(const SettingRow& row, std::string_view text, Settings& settings) {
  const bool understood =
      std::visit([&](const auto& value) { return store(value, text, settings); }, row.value);
  if (understood) {
    return {};
  }
  const std::string shown = is_secret(row)
                                ? fmt::format("{} characters that are not shown", text.size())
                                : fmt::format("\"{}\"", text);
  return fail(Code::invalid_argument, fmt::format("{} is {}, which is not allowed. Allowed: {}.",
                                                  row.name, shown, range_text(row)));
}

std::string value_text(const SettingRow& row, const Settings& settings) {
  if (const auto* text = std::get_if<TextRow>(&row.value)) {
    const std::string& value = settings.*text->member;
    return text->secret && !value.empty() ? "(set)" : value;
  }
  const auto& number = std::get<NumberRow>(row.value);
  const std::int64_t value = settings.*number.member;
  return std::holds_alternative<Bytes>(number.form) ? format_bytes(value) : fmt::to_string(value);
}

std::string range_text(const SettingRow& row) {
  return std::visit(
      [](const auto& value) {
        return std::visit([](const auto& form) { return describe(form); }, value.form);
      },
      row.value);
}

}  // namespace gyre

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "collectives/algorithm.h"
#include "collectives/layout.h"
#include "collectives/plan_json.h"
#include "collectives/plan_json_document.h"
#include "collectives/plan_json_names.h"

namespace gyre::plan {

namespace {

constexpr std::int64_t most_ranks = 65536;
constexpr std::int64_t most_blocks = 65536;
// Of ranks times blocks, and times scratch blocks: what the verifier keeps for each must fit in memory.
constexpr std::int64_t most_outputs = std::int64_t{1} << 24;
constexpr std::int64_t most_slots = 65536;
constexpr std::int64_t most_scratch_blocks = 65536;
constexpr std::size_t longest_name = 64;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '+' || c == '-';
}

// Each member function answers false after the first fault, which it has kept.
class PlanReader : FieldReader {
 public:
  Result<Plan> read(const Json& document) {
    const Where top;
    if (read_heading(top, document) && read_programs(top, document)) return std::move(plan_);
    return fault();
  }

 private:
  bool check_keys(const Where& where, const Json& value,
                  std::initializer_list<std::string_view> known) {
    if (!value.is_object()) return refuse_value(where, "an object", value);
    for (const auto& [key, ignored] : value.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        return refuse({&where, key},
                      fmt::format("there is no such key; there are {}.", fmt::join(known, ", ")));
      }
    }
    return true;
  }

  // One of the names that `parse` knows.
  template <typename Value>
  bool read_name(const Where& where, const Json& object, std::string_view key,
                 std::optional<Value> (*parse)(std::string_view), Value& into) {
    std::string text;
    if (!read_text(where, object, key, text)) return false;
    const std::optional<Value> parsed = parse(text);
    if (!parsed) {
      return refuse_value({&where, key}, fmt::format("the name of a {}", key), Json(text));
    }
    into = *parsed;
    return true;
  }

  bool read_plan_name(const Where& where, const Json& object) {
    if (!read_text(where, object, "name", plan_.name)) return false;
    if (!plan_.name.empty() && plan_.name.size() <= longest_name &&
        std::all_of(plan_.name.begin(), plan_.name.end(), is_name_character)) {
      return true;
    }
    return refuse_value({&where, "name"},
                        fmt::format("1 to {} letters, digits and . _ + -", longest_name),
                        Json(plan_.name));
  }

  bool read_heading(const Where& where, const Json& document) {
    std::int32_t version = 0;
    return check_keys(where, document,
                      {"gyre_plan", "name", "collective", "protocol", "ranks", "root", "blocks",
                       "slots", "scratch_blocks", "in_place_safe", "programs"}) &&
           read_integer(where, document, "gyre_plan", plan_json_version, plan_json_version,
                        version) &&
           read_plan_name(where, document) &&
           read_name(where, document, "collective", parse_collective, plan_.collective) &&
           read_name(where, document, "protocol", parse_protocol, plan_.protocol) &&
           read_integer(where, document, "ranks", 1, most_ranks, plan_.ranks) &&
           read_root(where, document) &&
           read_integer(where, document, "blocks", 1, most_blocks, plan_.blocks) &&
           check_product(where, "blocks", plan_.blocks) &&
           read_integer(where, document, "slots", 1, most_slots, plan_.slots) &&
           read_scratch(where, document) &&
           check_product(where, "scratch_blocks", plan_.scratch_blocks) &&
           read_boolean(where, document, "in_place_safe", plan_.in_place_safe);
  }

  bool read_root(const Where& where, const Json& document) {
    if (has_root(plan_.collective)) {
      return read_integer(where, document, "root", 0, plan_.ranks - 1, plan_.root);
    }
    return !document.contains("root") ||
           refuse({&where, "root"},
                  fmt::format("{} has no root; leave the key out.", name_of(plan_.collective)));
  }

  bool read_scratch(const Where& where, const Json& document) {
    return !document.contains("scratch_blocks") ||
           read_integer(where, document, "scratch_blocks", 0, most_scratch_blocks,
                        plan_.scratch_blocks);
  }

  bool check_product(const Where& where, std::string_view key, std::int32_t each) {
    return std::int64_t{plan_.ranks} * each <= most_outputs ||
           refuse({&where, key}, fmt::format("{} ranks with {} {} each are too many: together at "
                                             "most {}.",
                                             plan_.ranks, each, key, most_outputs));
  }

  bool read_programs(const Where& top, const Json& document) {
    const Json* const programs = member(top, document, "programs");
    if (programs == nullptr) return false;
    const Where where{&top, "programs"};
    if (!programs->is_array() || programs->size() != static_cast<std::size_t>(plan_.ranks)) {
      return refuse_value(
          where, fmt::format("an array of {} programs, one for each rank", plan_.ranks), *programs);
    }
    plan_.programs.resize(programs->size());
    for (std::size_t rank = 0; rank < programs->size(); ++rank) {
      if (!read_program({&where, rank}, (*programs)[rank], plan_.programs[rank])) return false;
    }
    return true;
  }

  bool read_program(const Where& where, const Json& value, Program& program) {
    if (!value.is_array()) return refuse_value(where, "an array of steps", value);
    program.resize(value.size());
    for (std::size_t step = 0; step < value.size(); ++step) {
      if (!read_step({&where, step}, value[step], program[step])) return false;
    }
    return true;
  }

  bool read_step(const Where& where, const Json& value, Step& step) {
    if (value.is_object() && value.contains("combine")) return read_combine(where, value, step);
    for (const StepName& row : step_names) {
      if (!value.is_object() || !value.contains(row.name)) continue;
      step.kind = row.kind;
      return check_keys(where, value, {row.name}) &&
             read_integer(where, value, row.name, 0, plan_.ranks - 1, step.peer);
    }
    return refuse_value(where, "an object with the key combine, wait, release, signal or await",
                        value);
  }

  bool read_combine(const Where& where, const Json& value, Step& step) {
    if (!check_keys(where, value, {"combine", "to", "complete"})) return false;
    return read_slices(where, value, "combine", step.sources) &&
           read_slices(where, value, "to", step.destinations) &&
           (!value.contains("complete") || read_boolean(where, value, "complete", step.completes));
  }

  bool read_slices(const Where& step, const Json& value, std::string_view key,
                   std::vector<Slice>& slices) {
    const Json* const list = member(step, value, key);
    if (list == nullptr) return false;
    const Where where{&step, key};
    if (!list->is_array() || list->empty()) {
      return refuse_value(where, "an array of at least one slice", *list);
    }
    slices.resize(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (!read_slice({&where, i}, (*list)[i], slices[i])) return false;
    }
    return true;
  }

  bool read_slice(const Where& where, const Json& value, Slice& slice) {
    for (const PlaceName& row : place_names) {
      if (!value.is_object() || !value.contains(row.name)) continue;
      slice.place = row.place;
      if (!read_integer(where, value, row.name, 0, plan_.blocks - 1, slice.block)) {
        return false;
      }
      if (row.place == Place::scratch) return read_scratch_index(where, value, slice);
      if (!row.has_peer) return check_keys(where, value, {row.name});
      return check_keys(where, value, {row.name, "peer"}) &&
             read_integer(where, value, "peer", 0, plan_.ranks - 1, slice.peer);
    }
    return refuse_value(where, "an object with the name of a place as its key", value);
  }

  bool read_scratch_index(const Where& where, const Json& value, Slice& slice) {
    if (plan_.scratch_blocks == 0) return refuse(where, "the plan has no scratch_blocks.");
    return check_keys(where, value, {"scratch", "index"}) &&
           read_integer(where, value, "index", 0, plan_.scratch_blocks - 1, slice.scratch);
  }

  Plan plan_;
};

}  // namespace

Result<Plan> parse_plan(std::string_view text) {
  const Result<Json> document = parse_document(text);
  if (!document) return Unexpected(document.error());
  return PlanReader().read(*document);
}

Result<Plan> read_plan_file(const std::string& path) {
  const auto text = read_text_file(path, most_plan_bytes);
  if (!text) return Unexpected(text.error());
  auto plan = parse_plan(*text);
  if (!plan) {
    return fail(plan.error().code, fmt::format("{} is no plan. {}", path, plan.error().message));
  }
  return plan;
}

}  // namespace gyre::plan

// SPDX-License-Identifier: Apache-2.0
#include "base/settings.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/settings_table.h"

namespace gyre {
namespace {

constexpr std::string_view prefix = "GYRE_";
constexpr std::string_view conf_file_variable = "GYRE_CONF_FILE";

struct Assignment {
  std::string_view name;
  std::string_view value;
};

std::optional<Assignment> split_assignment(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    return std::nullopt;
  }
  return Assignment{text.substr(0, equals), text.substr(equals + 1)};
}

std::optional<std::string> find_variable(const char* const* environment, std::string_view name) {
  for (const char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const auto assignment = split_assignment(*entry);
    if (assignment && assignment->name == name) {
      return std::string(assignment->value);
    }
  }
  return std::nullopt;
}

std::string unknown_name(std::string_view name, std::string_view place) {
  std::vector<std::string_view> names;
  for (const SettingRow& row : setting_table()) {
    names.push_back(row.name);
  }
  const auto nearest = nearest_name(name, names);
  return fmt::format("{} ({}) is no setting of Gyre and is ignored.{}", name, place,
                     nearest ? fmt::format(" Did you mean {}?", *nearest)
                             : std::string(" docs/settings.md lists them all."));
}

// Fills one Settings from several sources, weakest first.
class Reader {
 public:
  explicit Reader(std::vector<std::string>* warnings) : warnings_(warnings) {
    settings_.origins.assign(setting_table().size(), Origin::preset);
  }

  [[nodiscard]] Status read_environment(const char* const* environment) {
    for (const char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
      const auto assignment = split_assignment(*entry);
      if (assignment && assignment->name.starts_with(prefix)) {
        GYRE_TRY(set(*assignment, Origin::environment, "environment"));
      }
    }
    return {};
  }

  // A file that does not exist is no failure unless somebody asked for it by name.
  [[nodiscard]] Status read_file(const std::string& path, Origin origin, bool required) {
    std::ifstream file(path);
    if (!file) {
      return cannot_open(path, errno, required);
    }
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      GYRE_TRY(read_line(line, origin, fmt::format("{}:{}", path, number)));
    }
    return {};
  }

  [[nodiscard]] Settings take() { return std::move(settings_); }

 private:
  [[nodiscard]] Status read_line(std::string_view line, Origin origin, std::string_view place) {
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) {
      return {};
    }
    const auto assignment = split_assignment(line);
    if (!assignment) {
      return fail(Code::invalid_argument,
                  fmt::format("{}: \"{}\" is not of the form NAME=VALUE. Correct the line or put "
                              "a # before it.",
                              place, line));
    }
    return set({trim(assignment->name), trim(assignment->value)}, origin, place);
  }

  [[nodiscard]] Status set(Assignment assignment, Origin origin, std::string_view place) {
    const auto table = setting_table();
    const auto row = std::find_if(table.begin(), table.end(), [&](const SettingRow& candidate) {
      return candidate.name == assignment.name;
    });
    if (row == table.end()) {
      if (!is_program_variable(assignment.name)) {
        warn(unknown_name(assignment.name, place));
      }
      return {};
    }
    if (auto assigned = assign(*row, assignment.value, settings_); !assigned) {
      return fail(assigned.error().code,
                  fmt::format("{} It was read from: {}.", assigned.error().message, place));
    }
    settings_.origins[static_cast<std::size_t>(row - table.begin())] = origin;
    return {};
  }

  [[nodiscard]] Status cannot_open(const std::string& path, int error_number, bool required) {
    if (!required && (error_number == ENOENT || error_number == ENOTDIR)) {
      return {};
    }
    const std::string text = fmt::format("The settings file {} cannot be read: {}.", path,
                                         std::generic_category().message(error_number));
    if (required) {
      return fail(
          Code::invalid_argument,
          fmt::format("{} {} names it; correct or unset that variable.", text, conf_file_variable));
    }
    warn(text + " It is ignored.");
    return {};
  }

  void warn(std::string text) {
    if (warnings_ != nullptr) {
      warnings_->push_back(std::move(text));
    }
  }

  Settings settings_;
  std::vector<std::string>* warnings_;
};

}  // namespace

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::preset:
      return "default";
    case Origin::system_file:
      return "system file";
    case Origin::user_file:
      return "user file";
    case Origin::environment:
      return "environment";
  }
  return "unknown";
}

Result<Settings> read_settings(const char* const* environment, const std::string& system_file,
                               std::vector<std::string>* warnings) {
  Reader reader(warnings);
  GYRE_TRY(reader.read_file(system_file, Origin::system_file, false));
  const auto chosen = find_variable(environment, conf_file_variable);
  const auto home = find_variable(environment, "HOME");
  if (chosen && !chosen->empty()) {
    GYRE_TRY(reader.read_file(*chosen, Origin::user_file, true));
  } else if (home && !home->empty()) {
    GYRE_TRY(reader.read_file(*home + "/.gyre.conf", Origin::user_file, false));
  }
  GYRE_TRY(reader.read_environment(environment));
  return reader.take();
}

Result<Settings> read_settings(const char* const* environment, std::vector<std::string>* warnings) {
  return read_settings(environment, "/etc/gyre.conf", warnings);
}

std::vector<SettingReport> report_settings(const Settings& settings) {
  std::vector<SettingReport> rows;
  const Settings presets;
  for (const SettingRow& row : setting_table()) {
    const std::size_t index = rows.size();
    rows.push_back({std::string(row.name), value_text(row, settings), value_text(row, presets),
                    range_text(row), std::string(row.description),
                    index < settings.origins.size() ? settings.origins[index] : Origin::preset});
  }
  return rows;
}

}  // namespace gyre

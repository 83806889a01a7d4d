// SPDX-License-Identifier: Apache-2.0
// The table that declares every variable, and what can be done with one row of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/settings.h"
#include "base/status.h"

namespace gyre {

// What a value may look like. Each kind parses, checks and describes itself.
struct AnyText {};
struct OneOf {
  std::vector<std::string_view> choices;  // compared without case, stored as spelled here
};
struct ListOf {
  std::vector<std::string_view> choices;  // comma list; an item or the whole list may begin with ^
};
struct HexDigits {
  std::size_t count;
};
struct PortRange {};
struct Integer {
  std::int64_t least;
  std::int64_t most;
  std::string_view unit;
};
struct Bytes {
  std::int64_t least;
  std::int64_t most;
};

using TextMember = std::string Settings::*;
using NumberMember = std::int64_t Settings::*;

struct TextRow {
  TextMember member;
  std::variant<AnyText, OneOf, ListOf, HexDigits, PortRange> form;
  bool secret = false;  // never shown: not in reports, not in error texts
};
struct NumberRow {
  NumberMember member;
  std::variant<Integer, Bytes> form;
};

struct SettingRow {
  std::string_view name;
  std::variant<TextRow, NumberRow> value;
  std::string_view description;
};

// In the order of the fields of Settings.
[[nodiscard]] std::span<const SettingRow> setting_table();

// Variables that belong to the launcher or to a program around the library: known, not read here.
[[nodiscard]] bool is_program_variable(std::string_view name);

// Stores `text` into the row's field; an empty text stores the default.
[[nodiscard]] Status assign(const SettingRow& row, std::string_view text, Settings& settings);

[[nodiscard]] std::string value_text(const SettingRow& row, const Settings& settings);
[[nodiscard]] std::string range_text(const SettingRow& row);

}  // namespace gyre

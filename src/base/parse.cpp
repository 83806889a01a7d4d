// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace gyre {
namespace {

// Of ASCII only: the C functions depend on the locale and are undefined for negative chars.
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'f');
}

struct Unit {
  char letter;
  std::int64_t bytes;
};
constexpr std::array<Unit, 4> units = {Unit{'t', 1LL << 40}, Unit{'g', 1LL << 30},
                                       Unit{'m', 1LL << 20}, Unit{'k', 1LL << 10}};

// Edits between a and b; a swap of neighbours counts as one (optimal string alignment). Three rows
// of the classical table suffice.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) {
    return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  std::int64_t scale = 1;
  const auto* const unit = std::find_if(units.begin(), units.end(), [&](const Unit& candidate) {
    return candidate.letter == lower(text.back());
  });
  if (unit != units.end()) {
    scale = unit->bytes;
    text.remove_suffix(1);
  }
  const auto number = parse_integer(text);
  std::int64_t bytes = 0;
  if (!number || __builtin_mul_overflow(*number, scale, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::string format_bytes(std::int64_t bytes) {
  for (const Unit& unit : units) {
    if (bytes != 0 && bytes % unit.bytes == 0) {
      return fmt::format("{}{}", bytes / unit.bytes, static_cast<char>(unit.letter - 'a' + 'A'));
    }
  }
  return fmt::to_string(bytes);
}

std::optional<std::string> parse_choice(std::string_view text,
                                        std::span<const std::string_view> choices) {
  for (const std::string_view choice : choices) {
    if (equal_ignoring_case(choice, text)) {
      return std::string(choice);
    }
  }
  return std::nullopt;
}

std::optional<std::string> parse_choice_list(std::string_view text,
                                             std::span<const std::string_view> choices) {
  std::vector<std::string> items;
  for (std::string_view item : split(text, ',')) {
    item = trim(item);
    const bool excluded = item.starts_with('^');
    const auto choice = parse_choice(item.substr(excluded ? 1 : 0), choices);
    if (!choice) {
      return std::nullopt;
    }
    items.push_back((excluded ? "^" : "") + *choice);
  }
  return fmt::format("{}", fmt::join(items, ","));
}

std::optional<std::string> parse_hex_digits(std::string_view text, std::size_t count) {
  if (text.size() != count || !std::all_of(text.begin(), text.end(), is_hex_digit)) {
    return std::nullopt;
  }
  std::string digits(text);
  std::transform(digits.begin(), digits.end(), digits.begin(), lower);
  return digits;
}

std::optional<std::string> parse_port_range(std::string_view text) {
  constexpr std::int64_t highest_port = 65535;
  const auto ends = split(text, '-');
  const auto first = parse_integer(ends.front());
  const auto last = parse_integer(ends.back());
  if (ends.size() > 2 || !first || !last || *first < 1 || *last > highest_port || *first > *last) {
    return std::nullopt;
  }
  return fmt::format("{}-{}", *first, *last);
}

std::optional<std::string_view> nearest_name(std::string_view text,
                                             std::span<const std::string_view> names) {
  // A third of the letters may be wrong; beyond that a suggestion is noise.
  std::size_t best = std::max<std::size_t>(2, text.size() / 3) + 1;
  std::optional<std::string_view> nearest;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace gyre

// SPDX-License-Identifier: Apache-2.0
// Text to values, without exceptions and without a locale. Nothing is returned for text that is not
// wholly understood.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre {

[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);
// "4096", "64K", "1M", "2g": powers of 1024.
[[nodiscard]] std::optional<std::int64_t> parse_bytes(std::string_view text);
// The inverse of parse_bytes: the largest unit that divides the number.
[[nodiscard]] std::string format_bytes(std::int64_t bytes);

// The choice that equals `text` but for case, in its own spelling.
[[nodiscard]] std::optional<std::string> parse_choice(std::string_view text,
                                                      std::span<const std::string_view> choices);
// A comma list of choices, each of which may begin with ^; joined again in canonical spelling.
[[nodiscard]] std::optional<std::string> parse_choice_list(
    std::string_view text, std::span<const std::string_view> choices);
// Exactly `count` hex digits; in lower case.
[[nodiscard]] std::optional<std::string> parse_hex_digits(std::string_view text, std::size_t count);
// "first-last" or one port; as "first-last".
[[nodiscard]] std::optional<std::string> parse_port_range(std::string_view text);

// The name with the fewest single-letter edits from `text` (insert, delete, replace, swap of two
// neighbours), or nothing when even that one is too far away to be a slip of the fingers.
[[nodiscard]] std::optional<std::string_view> nearest_name(std::string_view text,
                                                           std::span<const std::string_view> names);

}  // namespace gyre

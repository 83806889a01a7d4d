// SPDX-License-Identifier: Apache-2.0
#include "collectives/plan_json_document.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "collectives/plan_json.h"

namespace gyre::plan {

namespace {

// A plan is five deep; what other programs write, not much more.
constexpr std::size_t most_depth = 16;

// Thrown through the parser, whose callback cannot stop it otherwise; caught in parse_document.
struct Refused {
  std::string reason;
};

// Follows the parser through the document, to find what it forgives: repeated keys.
class Watch {
 public:
  bool see(Json::parse_event_t event, const Json& value) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        if (open_.size() == most_depth) {
          throw Refused{fmt::format("It nests more than {} deep.", most_depth)};
        }
        open_.emplace_back();
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        open_.pop_back();
        break;
      case Json::parse_event_t::key:
        add_key(value.get_ref<const std::string&>());
        break;
      case Json::parse_event_t::value:
        break;
    }
    return true;
  }

 private:
  void add_key(const std::string& key) {
    std::vector<std::string>& keys = open_.back();
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      throw Refused{fmt::format("The key {} is there twice in one object{}.", kind_of(Json(key)),
                                path().empty() ? "" : " at " + path())};
    }
    if (keys.size() == most_keys) throw Refused{"An object has more keys than any has a use for."};
    keys.push_back(key);
  }

  // Of the open object, as far as keys tell it.
  [[nodiscard]] std::string path() const {
    std::string text;
    for (std::size_t depth = 0; depth + 1 < open_.size(); ++depth) {
      if (!open_[depth].empty()) text += "/" + open_[depth].back();
    }
    return text;
  }

  static constexpr std::size_t most_keys = 64;
  std::vector<std::vector<std::string>> open_;  // the keys of each object so far; none of arrays
};

// Without the library's own prefix: "[json.exception.parse_error.101] parse error at line 1, ...".
std::string reason_of(const Json::exception& error) {
  const std::string_view what = error.what();
  const std::size_t prefix = what.find("] ");
  return std::string(prefix == std::string_view::npos ? what : what.substr(prefix + 2));
}

}  // namespace

std::string Where::text() const {
  if (in == nullptr) return "the top";
  const std::string before = in->in == nullptr ? "" : in->text();
  return key.empty() ? fmt::format("{}/{}", before, index) : fmt::format("{}/{}", before, key);
}

Result<Json> parse_document(std::string_view text) {
  if (text.size() > most_plan_bytes) {
    return fail(Code::invalid_argument, fmt::format("It has {} bytes: more than {} are not read.",
                                                    text.size(), most_plan_bytes));
  }
  Watch watch;
  try {
    return Json::parse(text, [&](int /*depth*/, Json::parse_event_t event, const Json& value) {
      return watch.see(event, value);
    });
  } catch (const Refused& refused) {
    return fail(Code::invalid_argument, refused.reason);
  } catch (const Json::exception& error) {
    return fail(Code::invalid_argument, fmt::format("It is no JSON: {}.", reason_of(error)));
  }
}

bool FieldReader::refuse(const Where& where, std::string_view what, Code code) {
  fault_ = {code, fmt::format("At {}: {}", where.text(), what)};
  return false;
}

bool FieldReader::refuse_value(const Where& where, std::string_view must_be, const Json& value) {
  return refuse(where, fmt::format("it must be {}, and is {}.", must_be, kind_of(value)));
}

const Json* FieldReader::member(const Where& where, const Json& object, std::string_view key) {
  if (object.is_object()) {
    const auto found = object.find(key);
    if (found != object.end()) return &*found;
  }
  refuse(where, fmt::format("the key \"{}\" is missing.", key));
  return nullptr;
}

const Json* FieldReader::array_member(const Where& where, const Json& object,
                                      std::string_view key) {
  const Json* const value = member(where, object, key);
  if (value == nullptr || value->is_array()) return value;
  refuse_value({&where, key}, "an array", *value);
  return nullptr;
}

bool FieldReader::read_text(const Where& where, const Json& object, std::string_view key,
                            std::string& into) {
  const Json* const value = member(where, object, key);
  if (value == nullptr) return false;
  if (!value->is_string()) return refuse_value({&where, key}, "a text", *value);
  into = value->get<std::string>();
  return true;
}

bool FieldReader::read_boolean(const Where& where, const Json& object, std::string_view key,
                               bool& into) {
  const Json* const value = member(where, object, key);
  if (value == nullptr) return false;
  if (!value->is_boolean()) return refuse_value({&where, key}, "true or false", *value);
  into = value->get<bool>();
  return true;
}

bool FieldReader::read_integer(const Where& where, const Json& object, std::string_view key,
                               std::int64_t least, std::int64_t most, std::int32_t& into) {
  const Json* const value = member(where, object, key);
  return value != nullptr && check_integer({&where, key}, *value, least, most, into);
}

bool FieldReader::check_integer(const Where& where, const Json& value, std::int64_t least,
                                std::int64_t most, std::int32_t& into) {
  const auto number = integer_of(value);
  if (!number || *number < least || *number > most) {
    return refuse_value(where, fmt::format("an integer from {} to {}", least, most), value);
  }
  into = static_cast<std::int32_t>(*number);
  return true;
}

std::optional<std::int64_t> integer_of(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    return static_cast<std::int64_t>(number);
  }
  if (!value.is_number_integer()) return {};
  return value.get<std::int64_t>();
}

std::string kind_of(const Json& value) {
  constexpr std::size_t most_shown = 40;
  switch (value.type()) {
    case Json::value_t::object:
      return value.empty()
                 ? "an empty object"
                 : fmt::format("an object with the key {}", kind_of(Json(value.begin().key())));
    case Json::value_t::array:
      return fmt::format("an array of {}", value.size());
    case Json::value_t::string:
    case Json::value_t::boolean:
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: {
      // Escaped, with what is no UTF-8 replaced: it may be printed on any terminal.
      std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
      if (text.size() > most_shown) text = text.substr(0, most_shown) + "...";
      return text;
    }
    default:
      return "null";
  }
}

}  // namespace gyre::plan

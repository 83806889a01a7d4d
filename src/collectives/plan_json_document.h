// SPDX-License-Identifier: Apache-2.0
// A JSON document as plan files need it: no repeated keys, no depth without end, and every place in
// it has a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/status.h"

namespace gyre::plan {

using Json = nlohmann::json;

// A place in a document, as a chain to its top on the stack. Costs nothing unless it is printed.
struct Where {
  Where() = default;
  Where(const Where* within, std::string_view with_key) : in(within), key(with_key) {}
  Where(const Where* within, std::size_t with_index) : in(within), index(with_index) {}

  // A JSON pointer (RFC 6901): "/programs/0/3/to/1".
  [[nodiscard]] std::string text() const;

  const Where* in = nullptr;
  std::string_view key;  // empty: `index` counts
  std::size_t index = 0;
};

[[nodiscard]] Result<Json> parse_document(std::string_view text);

// Base of readers of documents. Each function answers false (null) after a fault, and keeps its text.
class FieldReader {
 protected:
  bool refuse(const Where& where, std::string_view what, Code code = Code::invalid_argument);
  // "it must be WHAT, and is ..."
  bool refuse_value(const Where& where, std::string_view must_be, const Json& value);
  [[nodiscard]] Unexpected fault() const { return Unexpected(fault_); }

  const Json* member(const Where& where, const Json& object, std::string_view key);
  const Json* array_member(const Where& where, const Json& object, std::string_view key);
  bool read_text(const Where& where, const Json& object, std::string_view key, std::string& into);
  bool read_boolean(const Where& where, const Json& object, std::string_view key, bool& into);
  bool read_integer(const Where& where, const Json& object, std::string_view key,
                    std::int64_t least, std::int64_t most, std::int32_t& into);
  bool check_integer(const Where& where, const Json& value, std::int64_t least, std::int64_t most,
                     std::int32_t& into);

 private:
  Error fault_;
};

// Nothing where it is none, or does not fit.
[[nodiscard]] std::optional<std::int64_t> integer_of(const Json& value);
// For messages: "an object", "the text \"ring\"", "-1", "an array of 3".
[[nodiscard]] std::string kind_of(const Json& value);

}  // namespace gyre::plan

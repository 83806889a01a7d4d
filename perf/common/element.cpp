// SPDX-License-Identifier: Apache-2.0
#include "perf/common/element.h"

#include <array>
#include <span>
#include <string>

#include "perf/common/failure.h"

namespace perf {
namespace {

struct TypeRow {
  std::string_view name;   // as nccl-tests calls it
  std::string_view alias;  // as everybody else does
  std::size_t bytes;
  int digits;
};

constexpr std::array<TypeRow, 12> types{{{"int8", "char", 1, 0},
                                         {"uint8", "byte", 1, 0},
                                         {"int32", "int", 4, 0},
                                         {"uint32", "uint", 4, 0},
                                         {"int64", "long", 8, 0},
                                         {"uint64", "ulong", 8, 0},
                                         {"half", "float16", 2, 11},
                                         {"float", "float32", 4, 24},
                                         {"double", "float64", 8, 53},
                                         {"bfloat16", "bf16", 2, 8},
                                         {"f8e4m3", "float8e4m3", 1, 4},
                                         {"f8e5m2", "float8e5m2", 1, 3}}};

constexpr std::array<std::string_view, 9> operations{"sum",  "prod", "max",  "min",   "avg",
                                                     "band", "bor",  "bxor", "mulsum"};

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t comma = list.find(',');
    words.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> type_names() {
  std::vector<std::string_view> names;
  for (const TypeRow& row : types) names.push_back(row.name);
  return names;
}

[[noreturn]] void refuse(std::string_view what, std::string_view word,
                         std::span<const std::string_view> known) {
  std::string text = "Unknown " + std::string(what) + " \"" + std::string(word) + "\". Known are:";
  for (const std::string_view name : known) text += " " + std::string(name);
  throw Failure(text + " all.");
}

}  // namespace

std::size_t size_of(ElementType type) {
  return types[static_cast<std::size_t>(type)].bytes;
}

int significand_digits(ElementType type) {
  return types[static_cast<std::size_t>(type)].digits;
}

std::string_view name_of(ElementType type) {
  return types[static_cast<std::size_t>(type)].name;
}

std::string_view name_of(Operation op) {
  return operations[static_cast<std::size_t>(op)];
}

std::vector<ElementType> parse_types(std::string_view list) {
  std::vector<ElementType> found;
  for (const std::string_view word : split(list)) {
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (word == "all" || word == types[i].name || word == types[i].alias) {
        found.push_back(static_cast<ElementType>(i));
      }
    }
    if (found.size() == before) refuse("data type", word, type_names());
  }
  return found;
}

std::vector<Operation> parse_operations(std::string_view list) {
  std::vector<Operation> found;
  for (const std::string_view word : split(list)) {
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (word == "all" || word == operations[i]) found.push_back(static_cast<Operation>(i));
    }
    if (found.size() == before) refuse("operation", word, operations);
  }
  return found;
}

}  // namespace perf

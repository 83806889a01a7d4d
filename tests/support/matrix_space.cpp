// SPDX-License-Identifier: Apache-2.0
#include "support/matrix_space.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "support/element.h"

namespace gyre::test {
namespace {

using enum MatrixCollective;

constexpr std::array<int, 9> rank_counts = {1, 2, 3, 4, 5, 7, 8, 12, 16};
constexpr std::array<std::string_view, 4> protocols = {"", "inline", "staged", "direct"};

// Chosen; a cache line, over several channels; no power of two, over the fewest slots.
constexpr std::array<Cut, 3> cuts = {{{0, 0, 0}, {64, 3, 0}, {1000, 2, 1}}};
constexpr int chosen_cut = 0;
constexpr int tiny_cut = 1;

// A new collective is a row here, one in `all_ways` and one in
// tests/process/collectives/matrix_calls.h.
constexpr std::array<CollectiveTraits, 10> all_traits = {{
    {"AllReduce", true, false, true},
    {"Reduce", true, true, false},
    {"ReduceScatter", true, false, false},
    {"AllGather", false, false, true},
    {"Broadcast", false, true, true},
    {"Gather", false, true, false},
    {"Scatter", false, true, false},
    {"AllToAll", false, false, false},
    {"AllToAllV", false, false, false},
    {"SendRecv", false, false, false},
}};

constexpr Way all_ways[] = {
    {all_reduce, "oneshot", "inline"},
    {all_reduce, "oneshot", "staged"},
    {all_reduce, "oneshot", "direct"},
    {all_reduce, "twoshot", "staged"},
    {all_reduce, "twoshot", "direct"},
    {all_reduce, "ring", "staged", false},
    {all_reduce, "tree", "staged", false},
    {all_reduce, "doubling", "staged", false},
    {all_reduce, "halving", "staged", false},
    {all_reduce, "hierarchical", "staged", false},
    {reduce, "oneshot", "staged"},
    {reduce, "binomial", "staged", false},
    {reduce, "tree", "staged", false},
    {reduce, "twoshot", "staged"},
    {reduce, "twoshot", "direct"},
    {reduce_scatter, "oneshot", "inline"},
    {reduce_scatter, "oneshot", "staged"},
    {reduce_scatter, "oneshot", "direct"},
    {reduce_scatter, "ring", "staged", false},
    {reduce_scatter, "pat", "staged", false},
    {reduce_scatter, "hierarchical", "staged", false},
    {all_gather, "oneshot", "inline"},
    {all_gather, "oneshot", "staged"},
    {all_gather, "oneshot", "direct"},
    {all_gather, "ring", "staged"},
    {all_gather, "doubling", "staged"},
    {all_gather, "bruck", "staged"},
    {all_gather, "pat", "staged"},
    {all_gather, "hierarchical", "staged"},
    {broadcast, "oneshot", "staged"},
    {broadcast, "oneshot", "direct"},
    {broadcast, "chain", "staged"},
    {broadcast, "binomial", "staged"},
    {broadcast, "tree", "staged"},
    {broadcast, "hierarchical", "staged"},
    {gather, "oneshot", "staged"},
    {gather, "oneshot", "direct"},
    {scatter, "oneshot", "staged"},
    {scatter, "oneshot", "direct"},
    {all_to_all, "oneshot", "inline"},
    {all_to_all, "oneshot", "staged"},
    {all_to_all, "oneshot", "direct"},
    {all_to_all, "bruck", "staged"},
    {all_to_all, "pairwise", "staged"},
    {all_to_all_v, "", ""},  // one way, and nothing to force
    {send_recv, "", ""},
};

// "" first, then every name that occurs in all_ways.
const std::vector<std::string_view>& algorithms() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> found = {""};
    for (const Way& way : all_ways) {
      if (std::ranges::find(found, way.algorithm) == found.end()) found.push_back(way.algorithm);
    }
    return found;
  }();
  return names;
}

// Counts that depend on the limits of the library: `bytes` of that many elements, plus `more`.
enum class Unit : std::uint8_t {
  element,        // `times` elements
  ranks,          // `times` a rank
  chunk,          // `times` what a slot holds
  tile,           // `times` what one run of a program covers when a tile has a block for each rank
  exchange_slot,  // 16 KiB
  slot,           // 128 KiB
};
struct CountClass {
  Unit unit;
  int times;
  int more;
};
constexpr std::array<CountClass, 25> counts = {{
    {Unit::element, 0, 0},       {Unit::element, 1, 0},        {Unit::ranks, 1, -1},
    {Unit::element, 7, 0},       {Unit::element, 61, 0},       {Unit::element, 509, 0},
    {Unit::element, 4099, 0},    {Unit::chunk, 1, -1},         {Unit::chunk, 1, 0},
    {Unit::chunk, 1, 1},         {Unit::chunk, 2, -1},         {Unit::chunk, 2, 0},
    {Unit::chunk, 2, 1},         {Unit::chunk, 3, -1},         {Unit::chunk, 3, 0},
    {Unit::chunk, 3, 1},         {Unit::tile, 1, -1},          {Unit::tile, 1, 0},
    {Unit::tile, 1, 1},          {Unit::exchange_slot, 1, -1}, {Unit::exchange_slot, 1, 0},
    {Unit::exchange_slot, 1, 1}, {Unit::slot, 1, -1},          {Unit::slot, 1, 0},
    {Unit::slot, 1, 1},
}};
constexpr std::size_t exchange_slot_bytes = 16 * 1024;
constexpr std::size_t slot_bytes = 128 * 1024;

// Bytes that input and output begin behind a multiple of 64.
struct Offsets {
  std::size_t input, output;
};
constexpr std::array<Offsets, 4> offsets = {{{0, 0}, {1, 3}, {8, 40}, {63, 17}}};

// What a slot holds: whole cache lines. Where nothing is forced, the limit of small messages, which
// is also what a line holds.
std::size_t chunk_bytes(const Cut& cut) {
  return cut.chunk == 0 ? 1024 : static_cast<std::size_t>(cut.chunk / 64 * 64);
}

std::size_t unit_of(const CountClass& count, const Cut& cut, gyreDataType_t type, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  switch (count.unit) {
    case Unit::element:
      return 1;
    case Unit::ranks:
      return all;
    case Unit::chunk:
      return chunk_bytes(cut) / size_of(type);
    case Unit::tile:
      return all * chunk_bytes(cut) / size_of(type);
    case Unit::exchange_slot:
      return exchange_slot_bytes / size_of(type);
    case Unit::slot:
      return slot_bytes / size_of(type);
  }
  return 0;
}

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

// What is known of a row that may have open places.
class Known {
 public:
  explicit Known(std::span<const int> row) : row_(row) {}

  [[nodiscard]] bool has(Parameter parameter) const { return value(parameter) != not_chosen; }
  [[nodiscard]] int value(Parameter parameter) const {
    return row_[static_cast<std::size_t>(parameter)];
  }
  [[nodiscard]] bool is(Parameter parameter, int number) const {
    return value(parameter) == number;
  }
  // It has a value, which is not that one.
  [[nodiscard]] bool is_not(Parameter parameter, int number) const {
    return has(parameter) && !is(parameter, number);
  }
  [[nodiscard]] bool is_operation(Operation operation) const {
    return is(Parameter::operation, static_cast<int>(operation));
  }
  // "" where it is open, or left to the library.
  [[nodiscard]] std::string_view algorithm() const {
    return has(Parameter::algorithm) ? algorithms()[at(value(Parameter::algorithm))] : "";
  }
  [[nodiscard]] std::string_view protocol() const {
    return has(Parameter::protocol) ? protocols[at(value(Parameter::protocol))] : "";
  }
  [[nodiscard]] bool could_be(const Way& way) const {
    return !is_not(Parameter::collective, static_cast<int>(way.collective)) &&
           (algorithm().empty() || algorithm() == way.algorithm) &&
           (protocol().empty() || protocol() == way.protocol);
  }

 private:
  std::span<const int> row_;
};

// What is forced exists; and keeps the order of ranks where an operation needs it.
bool way_exists(const Known& known) {
  const bool ordered = known.is_operation(Operation::user_leftmost);
  return std::ranges::any_of(
      all_ways, [&](const Way& way) { return known.could_be(way) && (way.in_order || !ordered); });
}

bool operation_fits(const Known& known) {
  if (!known.has(Parameter::operation)) return true;
  const auto operation = static_cast<Operation>(known.value(Parameter::operation));
  if (known.has(Parameter::collective) && operation != Operation::sum &&
      !all_traits[at(known.value(Parameter::collective))].reduces) {
    return false;  // has no operation
  }
  return !known.has(Parameter::type) ||
         defined_for(operation, static_cast<gyreDataType_t>(known.value(Parameter::type)));
}

bool root_fits(const Known& known) {
  constexpr int first = 0;
  if (!known.is_not(Parameter::root, first)) return true;
  const bool rootless = known.has(Parameter::collective) &&
                        !all_traits[at(known.value(Parameter::collective))].rooted;
  return !rootless && !known.is(Parameter::ranks, 0);
}

// Peers map each other's buffers, and scale each other's contributions alike or not at all.
bool direct_fits(const Known& known) {
  return known.protocol() != "direct" ||
         (!known.is_not(Parameter::memory, static_cast<int>(MatrixMemory::shared)) &&
          !known.is_operation(Operation::premulsum));
}

// Messages have no form in place; neither have plans in which peers read inputs that their owners
// overwrite.
bool in_place_fits(const Known& known) {
  if (!known.is(Parameter::in_place, 1)) return true;
  const auto is = [&](MatrixCollective collective) {
    return known.is(Parameter::collective, static_cast<int>(collective));
  };
  const bool direct = known.protocol() == "direct";
  return !is(all_to_all_v) && !is(send_recv) && !(direct && is(all_to_all)) &&
         !(direct && is(all_reduce) && known.algorithm() == "oneshot");
}

// Thousands of chunks would take the time of all other cases together, and say no more.
bool count_fits(const Known& known) {
  if (!known.has(Parameter::count)) return true;
  const CountClass& count = counts[at(known.value(Parameter::count))];
  const bool large = count.unit == Unit::exchange_slot || count.unit == Unit::slot;
  if (large && known.is_not(Parameter::cut, chosen_cut)) return false;
  return !(count.times > 1000 && known.is(Parameter::cut, tiny_cut));
}

bool allows(std::span<const int> row) {
  const Known known(row);
  return way_exists(known) && operation_fits(known) && root_fits(known) && direct_fits(known) &&
         in_place_fits(known) && count_fits(known);
}

template <typename Values>
int size_of_list(const Values& values) {
  return static_cast<int>(std::size(values));
}

}  // namespace

std::span<const CollectiveTraits> collective_traits() {
  return all_traits;
}

std::span<const Way> ways() {
  return all_ways;
}

const Space& matrix_space() {
  static const Space space = {
      {size_of_list(rank_counts), size_of_list(algorithms()), size_of_list(protocols),
       size_of_list(cuts), size_of_list(all_traits), type_count, operation_count,
       size_of_list(counts), 2, 3, size_of_list(offsets), 3},
      allows,
      environment_parameters};
  return space;
}

MatrixCase case_of(const Row& row) {
  const auto value = [&](Parameter parameter) {
    return at(row[static_cast<std::size_t>(parameter)]);
  };
  MatrixCase made;
  made.number = encode(row);
  made.ranks = rank_counts.at(value(Parameter::ranks));
  made.algorithm = algorithms().at(value(Parameter::algorithm));
  made.protocol = protocols.at(value(Parameter::protocol));
  made.cut = cuts.at(value(Parameter::cut));
  made.collective = static_cast<MatrixCollective>(value(Parameter::collective));
  made.type = static_cast<gyreDataType_t>(value(Parameter::type));
  made.operation = static_cast<Operation>(value(Parameter::operation));
  const CountClass& count = counts.at(value(Parameter::count));
  made.count = unit_of(count, made.cut, made.type, made.ranks) * at(count.times);
  made.count += static_cast<std::size_t>(count.more);  // -1 of at least 1
  made.in_place = value(Parameter::in_place) == 1;
  made.root = std::array{0, made.ranks / 2, made.ranks - 1}.at(value(Parameter::root));
  made.input_offset = offsets.at(value(Parameter::misaligned)).input;
  made.output_offset = offsets.at(value(Parameter::misaligned)).output;
  made.memory = static_cast<MatrixMemory>(value(Parameter::memory));
  return made;
}

std::uint64_t encode(const Row& row) {
  const Space& space = matrix_space();
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    number = number * at(space.levels[i]) + at(row[i]);
  }
  return number;
}

Row decode_row(std::uint64_t number) {
  const Space& space = matrix_space();
  Row row(space.levels.size());
  for (std::size_t i = row.size(); i-- > 0;) {
    row[i] = static_cast<int>(number % at(space.levels[i]));
    number /= at(space.levels[i]);
  }
  return row;
}

std::size_t largest_buffer(int ranks) {
  return at(ranks) * (slot_bytes + sizeof(std::uint64_t));
}

std::string MatrixCase::text() const {
  static constexpr std::array<std::string_view, 3> memories = {"heap", "shared", "mixed"};
  std::ostringstream stream;
  stream << "case " << number << ": " << traits().name << " of " << count << " x " << name_of(type);
  if (traits().reduces) stream << ", " << name_of(operation);
  if (traits().rooted) stream << ", root " << root;
  stream << (in_place ? ", in place, " : ", ") << memories.at(static_cast<std::size_t>(memory))
         << " + " << input_offset << "/" << output_offset;
  return stream.str();
}

std::vector<std::string> MatrixCase::environment() const {
  return {"GYRE_ALGO=" + std::string(algorithm), "GYRE_PROTO=" + std::string(protocol),
          "GYRE_CHUNK=" + std::to_string(cut.chunk),
          "GYRE_CHANNELS=" + std::to_string(cut.channels),
          "GYRE_SLOTS=" + std::to_string(cut.slots)};
}

}  // namespace gyre::test

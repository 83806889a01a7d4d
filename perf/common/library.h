// SPDX-License-Identifier: Apache-2.0
// What the benchmark loop needs from the communication library under test, and of its collectives.
// The same loop, clock and table thus serve Gyre and its peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perf/common/collective.h"
#include "perf/common/element.h"

namespace perf {

// Memory of the user, freed (and deregistered) with the object.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;
  [[nodiscard]] virtual std::byte* data() = 0;
};

// Page-aligned memory of the C library.
[[nodiscard]] std::unique_ptr<Memory> allocate_plain(std::size_t bytes);

// Where a rank runs, for the head of the table.
struct RankLine {
  int rank = 0;
  std::int64_t pid = 0;
  std::string host;
  int cpu = -1;
  std::string allowed_cpus;
  std::string transport;  // between the rank that prints and this one
};

enum class Combine { sum, min, max };

class Library {
 public:
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  virtual ~Library() = default;

  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual bool supports(ElementType type, Operation op) const = 0;
  [[nodiscard]] virtual std::vector<RankLine> rank_lines() = 0;
  [[nodiscard]] virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;

  // Combines `values` over all ranks, for everyone; also serves as the barrier.
  virtual void combine(std::span<double> values, Combine how) = 0;
  // Returns when all calls made so far are done.
  virtual void wait_until_done() {}
  virtual void begin_group() {}
  virtual void end_group() {}
  // The way in which the newest collective was carried out; "-" where the library does not tell.
  [[nodiscard]] virtual std::string plan() const { return "-"; }
  // Once, after all work.
  virtual void finish() {}
};

struct Call {
  std::byte* send = nullptr;  // written between calls only
  std::byte* receive = nullptr;
  std::size_t count = 0;  // elements, as the collective's own argument
  ElementType type = ElementType::float32;
  Operation op = Operation::sum;
  int root = 0;
  const Sections* sections = nullptr;  // AllToAllV has it
};

// One collective of one library.
class Collective {
 public:
  explicit Collective(CollectiveKind kind) : kind_(kind) {}
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  virtual ~Collective() = default;

  [[nodiscard]] CollectiveKind kind() const { return kind_; }
  // Whether the library has NCCL's in-place form: see traits_of.
  [[nodiscard]] virtual bool has_in_place() const { return traits_of(kind_).has_in_place; }
  // The hot loop: makes `call` `times` times.
  virtual void repeat(const Call& call, int times) = 0;

 private:
  CollectiveKind kind_;
};

}  // namespace perf

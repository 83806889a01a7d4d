// SPDX-License-Identifier: Apache-2.0
// One rank that goes through generated AllReduces, each checked element by element, with guards
// around the output, and run twice.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "process/collectives/arena.h"
#include "process/collectives/operations.h"
#include "support/checks.h"
#include "support/element.h"
#include "support/job.h"
#include "support/reference.h"

namespace gyre::test {

inline constexpr std::array<std::size_t, 10> case_counts = {0,  1,   2,    3,    7,
                                                            17, 100, 1003, 4099, 70001};
inline constexpr std::size_t largest_count = 70001;

struct AllReduceCase {
  std::uint64_t seed = 0;
  gyreDataType_t type = gyreInt8;
  Operation operation = Operation::sum;
  std::size_t count = 0;
  bool in_place = false;
  Memory memory = Memory::heap;
  std::size_t misaligned = 0;  // bytes

  [[nodiscard]] std::string text() const {
    std::ostringstream stream;
    stream << "case " << seed << ": " << count << " x " << name_of(type) << ", "
           << name_of(operation) << (in_place ? ", in place, " : ", ") << name_of(memory) << " + "
           << misaligned;
    return stream.str();
  }
};

// Case number `seed`: the same on all ranks. Types and operations come in turn, the rest by chance.
[[nodiscard]] inline AllReduceCase make_case(std::uint64_t seed) {
  const auto pick = [&](std::uint64_t what, std::uint64_t choices) {
    return scramble(seed, what) % choices;
  };
  AllReduceCase made;
  made.seed = seed;
  made.type = static_cast<gyreDataType_t>(seed % type_count);
  made.operation = static_cast<Operation>(seed / type_count % operation_count);
  if (!defined_for(made.operation, made.type)) {
    made.operation = Operation::sum;
  }
  // The largest count costs as much as all the others.
  made.count =
      case_counts.at(pick(1, pick(2, 4) == 0 ? case_counts.size() : case_counts.size() - 1));
  made.in_place = pick(3, 2) == 0;
  made.memory = static_cast<Memory>(pick(4, memory_count));
  made.misaligned = pick(5, 3) == 0 ? pick(6, 64) : 0;
  return made;
}

class AllReducePlayer {
 public:
  AllReducePlayer(Checks& checks, gyreComm_t comm)
      : checks_(checks), comm_(comm), rank_(own_rank()), ranks_(world_size()) {
    for (int memory = 0; memory < memory_count - 1; ++memory) {
      for (auto& arenas : {&inputs_, &outputs_}) {
        arenas->push_back(std::make_unique<Arena>(checks, comm, static_cast<Memory>(memory),
                                                  largest_count * 8 + 4096));
      }
    }
    checks_.succeeded(gyreRedOpCreateUser(&xor_, user_xor, 1, nullptr, comm), "an operation");
    checks_.succeeded(gyreRedOpCreateUser(&leftmost_, user_leftmost, 0, nullptr, comm),
                      "an operation");
  }

  // False when the communicator is of no more use.
  bool play(const AllReduceCase& one) {
    const gyreRedOp_t op = make_operation(one);
    std::array<std::uint64_t, 2> digests{};
    bool good = true;
    for (std::uint64_t& digest : digests) {
      good = good && run(one, op, digest);
    }
    good = good && checks_.that(digests[0] == digests[1], "the same bits again", one.text());
    say(one.text() + ": " + std::to_string(digests[0]));
    if (one.operation == Operation::premulsum) {
      checks_.succeeded(gyreRedOpDestroy(op, comm_), "gyreRedOpDestroy");
    }
    return good;
  }

 private:
  static constexpr std::size_t guard = 128;  // bytes before and behind an output
  static constexpr std::byte poison{0xa5};

  gyreRedOp_t make_operation(const AllReduceCase& one) {
    switch (one.operation) {
      case Operation::user_xor:
        return xor_;
      case Operation::user_leftmost:
        return leftmost_;
      case Operation::premulsum: {
        std::array<std::byte, 8> scalar{};
        store_bits(one.type, scalar_of(one.type, rank_), scalar.data());
        gyreRedOp_t made{};
        checks_.succeeded(gyreRedOpCreatePreMulSum(&made, scalar.data(), one.type, comm_),
                          one.text());
        return made;
      }
      default:
        return static_cast<gyreRedOp_t>(one.operation);
    }
  }

  [[nodiscard]] std::byte* piece(const std::vector<std::unique_ptr<Arena>>& arenas,
                                 const AllReduceCase& one) const {
    const Memory own = one.memory == Memory::mixed
                           ? (rank_ % 2 == 1 ? Memory::heap : Memory::registered)
                           : one.memory;
    return arenas.at(static_cast<std::size_t>(own))->data() + guard + one.misaligned;
  }

  [[nodiscard]] static std::uint64_t input_of(const AllReduceCase& one, int rank, std::size_t i) {
    return random_element(one.type, one.seed * 64 + static_cast<std::uint64_t>(rank), i);
  }

  bool run(const AllReduceCase& one, gyreRedOp_t op, std::uint64_t& digest) {
    const std::size_t bytes = one.count * size_of(one.type);
    std::byte* const output = piece(outputs_, one);
    std::byte* const input = one.in_place ? output : piece(inputs_, one);
    std::fill(output - guard, output + bytes + guard, poison);
    for (std::size_t i = 0; i < one.count; ++i) {
      store_bits(one.type, input_of(one, rank_, i), input + i * size_of(one.type));
    }
    if (!checks_.succeeded(gyreAllReduce(input, output, one.count, one.type, op, comm_, nullptr),
                           one.text())) {
      return false;
    }
    const auto untouched = [](std::byte byte) { return byte == poison; };
    const char* plan = "";
    checks_.succeeded(gyreCommGetLastPlan(comm_, &plan), "gyreCommGetLastPlan");
    const std::string what = one.text() + " by " + plan;
    digest = hash({output, bytes});
    return checks_.that(std::all_of(output - guard, output, untouched) &&
                            std::all_of(output + bytes, output + bytes + guard, untouched),
                        "nothing is written beside the output", what) &&
           (one.in_place || check_input(one, input, what)) && check_output(one, output, what);
  }

  bool check_input(const AllReduceCase& one, const std::byte* input, const std::string& what) {
    bool same = true;
    for (std::size_t i = 0; i < one.count; ++i) {
      same = same && load_bits(one.type, input + i * size_of(one.type)) == input_of(one, rank_, i);
    }
    return checks_.that(same, "the input stays as it is", what);
  }

  // Of long outputs every 13th element, and the last: what goes wrong there goes wrong in chunks,
  // and that ranks agree in every bit is seen by the digest.
  bool check_output(const AllReduceCase& one, const std::byte* output, const std::string& what) {
    const std::size_t step = one.count > 5000 ? 13 : 1;
    for (std::size_t i = 0; i < one.count; i += step) {
      if (!check_element(one, output, i, what)) {
        return false;
      }
    }
    return one.count == 0 || check_element(one, output, one.count - 1, what);
  }

  bool check_element(const AllReduceCase& one, const std::byte* output, std::size_t i,
                     const std::string& what) {
    std::vector<std::uint64_t> inputs;
    for (int rank = 0; rank < ranks_; ++rank) {
      inputs.push_back(input_of(one, rank, i));
    }
    const std::uint64_t found = load_bits(one.type, output + i * size_of(one.type));
    const std::string fault = fault_in(one.operation, one.type, inputs, found);
    return fault.empty() ||
           checks_.that(false, what, "element " + std::to_string(i) + " is " + fault);
  }

  Checks& checks_;
  gyreComm_t comm_;
  int rank_;
  int ranks_;
  std::vector<std::unique_ptr<Arena>> inputs_;
  std::vector<std::unique_ptr<Arena>> outputs_;
  gyreRedOp_t xor_{};
  gyreRedOp_t leftmost_{};
};

}  // namespace gyre::test

// SPDX-License-Identifier: Apache-2.0
// One rank that plays cases of the matrix: every case twice, outputs poisoned first, guards around
// them, every element against the reference.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "process/collectives/arena.h"
#include "process/collectives/matrix_calls.h"
#include "process/collectives/operations.h"
#include "support/checks.h"
#include "support/element.h"
#include "support/job.h"
#include "support/matrix_inputs.h"
#include "support/matrix_space.h"
#include "support/reference.h"

namespace gyre::test {

class MatrixPlayer {
 public:
  MatrixPlayer(Checks& checks, gyreComm_t comm)
      : checks_(checks),
        comm_(comm),
        rank_(own_rank()),
        ranks_(world_size()),
        operations_(checks, comm) {
    const std::size_t bytes = largest_buffer(ranks_) + 2 * guard + 128;
    for (const Memory memory : {Memory::heap, Memory::shared}) {
      inputs_.push_back(std::make_unique<Arena>(checks, comm, memory, bytes));
      outputs_.push_back(std::make_unique<Arena>(checks, comm, memory, bytes));
    }
  }

  // False when the case failed. `digest`: of the output.
  bool play(const MatrixCase& one, std::uint64_t& digest) {
    lay_out(one);
    make_contribution(one);
    std::uint64_t again = 0;
    return run(one, digest) && check_plan(one) && check_output(one) && run(one, again) &&
           checks_.that(digest == again, "the same bits again", describe(one));
  }

 private:
  static constexpr std::size_t guard = 128;  // bytes before and behind an output
  static constexpr std::byte poison{0xa5};

  // Where the case has its buffers. In place the longer of the two holds the other one, in the
  // section of this rank.
  void lay_out(const MatrixCase& one) {
    const MatrixCall& call = matrix_calls.at(static_cast<std::size_t>(one.collective));
    const bool at_root = rank_ == one.root;
    bytes_ = one.count * size_of(one.type);
    send_sections_ = sections(at_root ? call.send_at_root : call.send);
    receive_sections_ = sections(at_root ? call.receive_at_root : call.receive);
    in_place_ = one.in_place && send_sections_ > 0 && receive_sections_ > 0;
    sections_ = in_place_ ? std::max(send_sections_, receive_sections_) : receive_sections_;
    const std::size_t memory =
        one.memory == MatrixMemory::shared || (one.memory == MatrixMemory::mixed && rank_ % 2 == 0)
            ? 1
            : 0;
    buffer_ = outputs_[memory]->data() + guard + one.output_offset;
    send_ = inputs_[memory]->data() + one.input_offset;
    receive_ = buffer_;
    const std::size_t own = static_cast<std::size_t>(rank_) * bytes_;
    if (in_place_) {
      send_ = buffer_ + (receive_sections_ > send_sections_ ? own : 0);
      receive_ = buffer_ + (send_sections_ > receive_sections_ ? own : 0);
    }
  }

  [[nodiscard]] std::size_t sections(Part part) const {
    return part == Part::none ? 0 : part == Part::one ? 1 : static_cast<std::size_t>(ranks_);
  }

  void make_contribution(const MatrixCase& one) {
    const std::size_t size = size_of(one.type);
    contribution_.resize(send_sections_ * bytes_);
    for (std::size_t section = 0; section < send_sections_; ++section) {
      for (std::size_t i = 0; i < one.count; ++i) {
        store_bits(one.type, input_bits(one, rank_, section, i),
                   contribution_.data() + section * bytes_ + i * size);
      }
    }
  }

  bool run(const MatrixCase& one, std::uint64_t& digest) {
    // A section at least, for an output that is ignored on this rank and must stay as it is.
    std::byte* const end = buffer_ + std::max<std::size_t>(sections_, 1) * bytes_ + guard;
    std::fill(buffer_ - guard, end, poison);
    std::copy(contribution_.begin(), contribution_.end(), send_);
    // What is ignored is given in half of the cases.
    const bool given = one.number % 2 == 0;
    const gyreResult_t result =
        matrix_calls.at(static_cast<std::size_t>(one.collective))
            .call({.send = send_sections_ > 0 || given ? send_ : nullptr,
                   .receive = receive_sections_ > 0 || given ? receive_ : nullptr,
                   .count = one.count,
                   .type = one.type,
                   .op = operations_.get(one.operation, one.type),
                   .root = one.root,
                   .comm = comm_});
    if (!checks_.succeeded(result, describe(one))) {
      return false;
    }
    digest = hash({receive_, receive_sections_ * bytes_});
    return checks_.that(
               is_poison(buffer_ - guard, buffer_) && is_poison(buffer_ + sections_ * bytes_, end),
               "nothing is written beside the output", describe(one)) &&
           checks_.that(input_is_untouched(), "the input stays as it is", describe(one));
  }

  static bool is_poison(const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte byte) { return byte == poison; });
  }

  // In place: those sections that are not the output.
  [[nodiscard]] bool input_is_untouched() const {
    for (std::size_t section = 0; section < send_sections_; ++section) {
      const std::byte* const at = send_ + section * bytes_;
      const bool overwritten =
          in_place_ && at >= receive_ && at < receive_ + receive_sections_ * bytes_;
      if (!overwritten && bytes_ > 0 &&
          std::memcmp(at, contribution_.data() + section * bytes_, bytes_) != 0) {
        return false;
      }
    }
    return true;
  }

  // What is forced is what ran; one rank copies, and where nothing moves nothing is chosen.
  bool check_plan(const MatrixCase& one) {
    const char* name = "";
    if (!checks_.succeeded(gyreCommGetLastPlan(comm_, &name), "gyreCommGetLastPlan")) {
      return false;
    }
    plan_ = name;
    const bool algorithm =
        one.algorithm.empty() || plan_.starts_with(std::string(one.algorithm) + "/");
    const bool protocol = one.protocol.empty() || plan_.ends_with("/" + std::string(one.protocol));
    return ranks_ == 1 || one.count == 0 ||
           checks_.that(algorithm && protocol, "what is forced runs", describe(one));
  }

  // Of long outputs every 13th element, and the last: what goes wrong there goes wrong in chunks,
  // and that ranks agree in every bit is seen by the digest.
  bool check_output(const MatrixCase& one) {
    const std::size_t step = one.count > 5000 ? 13 : 1;
    for (std::size_t section = 0; section < receive_sections_; ++section) {
      for (std::size_t i = 0; i < one.count; i += step) {
        if (!check_element(one, section, i)) {
          return false;
        }
      }
      if (one.count > 0 && !check_element(one, section, one.count - 1)) {
        return false;
      }
    }
    return true;
  }

  bool check_element(const MatrixCase& one, std::size_t section, std::size_t i) {
    const std::uint64_t found =
        load_bits(one.type, receive_ + section * bytes_ + i * size_of(one.type));
    const std::string fault = fault_of(one, section, i, found);
    return fault.empty() || checks_.that(false, describe(one),
                                         "section " + std::to_string(section) + ", element " +
                                             std::to_string(i) + " is " + fault);
  }

  std::string fault_of(const MatrixCase& one, std::size_t section, std::size_t i,
                       std::uint64_t found) {
    const MatrixCall& call = matrix_calls.at(static_cast<std::size_t>(one.collective));
    const Origin origin = call.origin(rank_, one.root, section);
    if (one.traits().reduces && ranks_ > 1) {
      operands_.clear();
      for (int rank = 0; rank < ranks_; ++rank) {
        operands_.push_back(input_bits(one, rank, origin.section, i));
      }
      return fault_in(one.operation, one.type, operands_, found);
    }
    return fault_of_one(one, input_bits(one, origin.rank, origin.section, i), found);
  }

  // Bytes that are moved, or the reduction over one rank.
  static std::string fault_of_one(const MatrixCase& one, std::uint64_t input, std::uint64_t found) {
    if (one.traits().reduces && one.operation == Operation::premulsum) {
      return fault_in(one.operation, one.type, std::span(&input, 1), found);
    }
    return found == input
               ? ""
               : std::to_string(found) + " instead of " + std::to_string(input) + " (bits)";
  }

  [[nodiscard]] std::string describe(const MatrixCase& one) const {
    return one.text() + " by " + plan_;
  }

  Checks& checks_;
  gyreComm_t comm_;
  int rank_, ranks_;
  MadeOperations operations_;
  std::vector<std::unique_ptr<Arena>> inputs_, outputs_;  // heap, shared
  std::vector<std::byte> contribution_;
  std::vector<std::uint64_t> operands_;
  std::string plan_;

  // Of the case at hand.
  std::size_t bytes_ = 0;  // of a section
  std::size_t send_sections_ = 0, receive_sections_ = 0, sections_ = 0;
  bool in_place_ = false;
  std::byte* buffer_ = nullptr;  // the output, or, in place, both
  std::byte* send_ = nullptr;
  std::byte* receive_ = nullptr;
};

}  // namespace gyre::test

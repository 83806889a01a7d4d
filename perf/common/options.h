// SPDX-License-Identifier: Apache-2.0
// The command line: that of nccl-tests, and what CPU ranks need besides.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "perf/common/collective.h"
#include "perf/common/element.h"

namespace perf {

enum class Average { rank0, mean, min, max };         // -a 0..3: over ranks
enum class Buffers { plain, registered, allocated };  // -R 0..2
enum class Place { both, out_of_place, in_place };
enum class Format { nccl, osu, csv, json };
enum class Binding { automatic, core, none };

struct Options {
  CollectiveKind collective = CollectiveKind::all_reduce;

  std::size_t min_bytes = std::size_t{32} << 20;
  std::size_t max_bytes = std::size_t{32} << 20;
  std::size_t step_bytes = std::size_t{1} << 20;
  double step_factor = 0;                 // > 1: sizes grow by it; else by step_bytes
  std::vector<std::size_t> listed_sizes;  // not empty: exactly these

  std::vector<Operation> operations;
  bool all_operations = false;  // combinations that do not exist are left out, not refused
  std::vector<ElementType> types;
  bool all_types = false;
  int root = 0;
  bool all_roots = false;

  int iterations = 20;
  int warmups = 1;
  int aggregated = 1;
  int cycles = 1;          // 0: for ever
  double min_time_ms = 0;  // a row runs at least this long, with more iterations than asked for
  int checks = 1;
  Average average = Average::mean;
  bool per_iteration = false;
  int skipped_samples = 0;

  Buffers buffers = Buffers::plain;
  std::size_t unalign = 0;  // bytes by which user buffers miss page alignment
  Place place = Place::both;
  int timeout_s = 0;  // 0: the library's own
  bool null_stream = true;
  bool blocking = false;  // wait after each operation of a stream
  bool cpu_time = false;
  bool timestamps = false;
  bool memory_report = false;

  Format format = Format::nccl;
  std::string output_file;
  int ranks = 0;  // > 0: start them here
  Binding binding = Binding::automatic;

  std::vector<std::string> notes;  // options that were accepted and have no effect here

  // All sizes of the sweep in bytes, each a multiple of `element`.
  [[nodiscard]] std::vector<std::size_t> sizes(std::size_t element) const;
};

// Nothing when the program should end at once, with `exit_status` set (help, or a bad option, which
// has been explained on stderr). `collective` is what the program is for; without one the user
// chooses.
std::optional<Options> parse_options(int argc, char** argv, const std::string& library,
                                     std::optional<CollectiveKind> collective, int* exit_status);

}  // namespace perf

// SPDX-License-Identifier: Apache-2.0
// What rank 0 prints: the table of nccl-tests, OSU's two columns, CSV or JSON.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/common/library.h"
#include "perf/common/options.h"

namespace perf {

struct RunInfo {
  std::string program;
  std::string library;
  std::vector<RankLine> ranks;
  const Options* options = nullptr;
};

struct SampleStatistics {  // -I: microseconds, over iterations
  double min = 0;
  double max = 0;
  double p99 = 0;
  double variation_percent = 0;
};

struct Side {  // out-of-place or in-place
  double time_us = 0;
  double algorithm_bandwidth = 0;  // GB/s, 1 GB = 1e9 bytes
  double bus_bandwidth = 0;
  std::optional<double> wrong;  // nothing: not checked
  std::optional<SampleStatistics> samples;
};

struct Row {
  std::size_t bytes = 0;
  std::size_t count = 0;
  ElementType type = ElementType::float32;
  std::optional<Operation> op;
  int root = -1;
  int iterations = 0;
  std::optional<Side> out_of_place;
  std::optional<Side> in_place;
  std::string plan;
  double timestamp = 0;  // seconds since 1970
};

struct Summary {
  double wrong = 0;
  double average_bus_bandwidth = 0;
  std::optional<double> peak_memory_bytes;  // largest of all ranks
};

class Report {
 public:
  Report() = default;
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  virtual ~Report() = default;
  virtual void begin(const RunInfo& info) = 0;
  virtual void row(const Row& row) = 0;
  virtual void end(const Summary& summary) = 0;
};

// All that the options ask for: one on stdout, and the JSON file if one is named.
[[nodiscard]] std::vector<std::unique_ptr<Report>> make_reports(const Options& options);

[[nodiscard]] std::unique_ptr<Report> make_table_report();
[[nodiscard]] std::unique_ptr<Report> make_osu_report();
[[nodiscard]] std::unique_ptr<Report> make_csv_report();
// Empty: stdout.
[[nodiscard]] std::unique_ptr<Report> make_json_report(const std::string& file);

}  // namespace perf

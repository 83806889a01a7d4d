// SPDX-License-Identifier: Apache-2.0
#include "perf/common/report.h"

namespace perf {
namespace {

std::unique_ptr<Report> make_stdout_report(Format format) {
  switch (format) {
    case Format::osu:
      return make_osu_report();
    case Format::csv:
      return make_csv_report();
    case Format::json:
      return make_json_report("");
    case Format::nccl:
      break;
  }
  return make_table_report();
}

}  // namespace

std::vector<std::unique_ptr<Report>> make_reports(const Options& options) {
  std::vector<std::unique_ptr<Report>> reports;
  reports.push_back(make_stdout_report(options.format));
  if (!options.output_file.empty()) reports.push_back(make_json_report(options.output_file));
  return reports;
}

}  // namespace perf

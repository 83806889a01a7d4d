// SPDX-License-Identifier: Apache-2.0
// The formats that other programs read line by line: OSU's two columns, and CSV.
#include <cstdio>

#include "perf/common/report.h"

namespace perf {
namespace {

// Size and average latency; some sites parse nothing else.
class OsuReport : public Report {
 public:
  void begin(const RunInfo& info) override {
    std::printf("\n# %s, %s\n%-10s%20s\n", info.program.c_str(), info.library.c_str(), "# Size",
                "Avg Latency(us)");
  }
  void row(const Row& row) override {
    const std::optional<Side>& side = row.out_of_place ? row.out_of_place : row.in_place;
    std::printf("%-10zu%20.2f\n", row.bytes, side->time_us);
    std::fflush(stdout);
  }
  void end(const Summary& summary) override {
    if (summary.wrong > 0) std::printf("# %g wrong values\n", summary.wrong);
    std::fflush(stdout);
  }
};

void print_csv_side(const std::optional<Side>& side) {
  if (!side) {
    std::printf(",,,,");
    return;
  }
  std::printf(",%.6g,%.6g,%.6g,", side->time_us, side->algorithm_bandwidth, side->bus_bandwidth);
  if (side->wrong) std::printf("%.0f", *side->wrong);
}

class CsvReport : public Report {
 public:
  void begin(const RunInfo& info) override {
    ranks_ = info.ranks.size();
    std::printf(
        "ranks,size,count,type,redop,root,iterations,out_time_us,out_algbw,out_busbw,out_wrong,"
        "in_time_us,in_algbw,in_busbw,in_wrong,plan\n");
  }
  void row(const Row& row) override {
    const std::string op(row.op ? name_of(*row.op) : "none");
    std::printf("%zu,%zu,%zu,%s,%s,%d,%d", ranks_, row.bytes, row.count,
                std::string(name_of(row.type)).c_str(), op.c_str(), row.root, row.iterations);
    print_csv_side(row.out_of_place);
    print_csv_side(row.in_place);
    std::printf(",%s\n", row.plan.c_str());
    std::fflush(stdout);
  }
  void end(const Summary& /*summary*/) override { std::fflush(stdout); }

 private:
  std::size_t ranks_ = 0;
};

}  // namespace

std::unique_ptr<Report> make_osu_report() {
  return std::make_unique<OsuReport>();
}

std::unique_ptr<Report> make_csv_report() {
  return std::make_unique<CsvReport>();
}

}  // namespace perf

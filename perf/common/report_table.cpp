// SPDX-License-Identifier: Apache-2.0
// The table of nccl-tests, column for column, with the plan as an extra last column.
#include <array>
#include <cstdio>
#include <ctime>

#include "perf/common/report.h"

namespace perf {
namespace {

// Keeps about four digits within `width` characters, for 0.08 us as for seconds.
std::string number(double value, int width) {
  const int decimals = value < 100 ? 3 : value < 1000 ? 2 : value < 10000 ? 1 : 0;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%*.*f", width, decimals, value);
  return text.data();
}

std::string wrong_text(const Side& side) {
  if (!side.wrong) return "N/A";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", *side.wrong);
  return text.data();
}

std::string step_text(const Options& options) {
  if (!options.listed_sizes.empty()) return "listed";
  const bool factor = options.step_factor > 1;
  const double step = factor ? options.step_factor : static_cast<double>(options.step_bytes);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.10g(%s)", step, factor ? "factor" : "bytes");
  return text.data();
}

void print_side(const std::optional<Side>& side) {
  if (!side) {
    std::printf("  %7s  %6s  %6s  %6s", "-", "-", "-", "-");
    return;
  }
  std::printf("  %s  %6.2f  %6.2f", number(side->time_us, 7).c_str(), side->algorithm_bandwidth,
              side->bus_bandwidth);
  std::printf("  %6s", wrong_text(*side).c_str());
  if (!side->samples) return;
  std::printf("  %s  %s  %s  %5.1f", number(side->samples->min, 7).c_str(),
              number(side->samples->max, 7).c_str(), number(side->samples->p99, 7).c_str(),
              side->samples->variation_percent);
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  localtime_r(&whole, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return text.data();
}

class TableReport : public Report {
 public:
  void begin(const RunInfo& info) override {
    info_ = info;
    print_options();
    print_ranks();
    print_columns();
    std::fflush(stdout);
  }

  void row(const Row& row) override {
    const std::string op(row.op ? name_of(*row.op) : "none");
    std::printf("%12zu  %12zu  %8s  %6s  %6d", row.bytes, row.count,
                std::string(name_of(row.type)).c_str(), op.c_str(), row.root);
    print_side(row.out_of_place);
    print_side(row.in_place);
    std::printf("  %s", row.plan.c_str());
    if (info_.options->timestamps) std::printf("  %s", clock_time(row.timestamp).c_str());
    std::printf("\n");
    std::fflush(stdout);
  }

  void end(const Summary& summary) override {
    std::printf("# Out of bounds values : %g %s\n", summary.wrong,
                summary.wrong == 0 ? "OK" : "FAILED");
    std::printf("# Avg bus bandwidth    : %g\n#\n", summary.average_bus_bandwidth);
    if (summary.peak_memory_bytes) {
      std::printf("# Peak resident memory : %.1f MiB a rank\n#\n",
                  *summary.peak_memory_bytes / (1024.0 * 1024.0));
    }
    std::printf("# Collective test concluded: %s\n", info_.program.c_str());
    std::fflush(stdout);
  }

 private:
  void print_options() const {
    const Options& o = *info_.options;
    std::printf("# %s\n# Collective test starting: %s\n", info_.library.c_str(),
                info_.program.c_str());
    std::printf("# nRanks %zu minBytes %zu maxBytes %zu ", info_.ranks.size(), o.min_bytes,
                o.max_bytes);
    std::printf("step: %s ", step_text(o).c_str());
    std::printf(
        "warmup iters: %d iters: %d agg iters: %d validation: %d unalign: %zu buffers: %s\n",
        o.warmups, o.iterations, o.aggregated, o.checks, o.unalign, buffers_name());
    for (const std::string& note : o.notes) std::printf("# Note: %s\n", note.c_str());
    std::printf("#\n");
  }

  [[nodiscard]] const char* buffers_name() const {
    switch (info_.options->buffers) {
      case Buffers::registered:
        return "registered";
      case Buffers::allocated:
        return "allocated";
      case Buffers::plain:
        break;
    }
    return "malloc";
  }

  void print_ranks() const {
    std::printf("# Using ranks\n");
    for (const RankLine& line : info_.ranks) {
      std::printf("#  Rank %2d Pid %6ld on %10s cpu %2d of %-8s transport to rank 0: %s\n",
                  line.rank, static_cast<long>(line.pid), line.host.c_str(), line.cpu,
                  line.allowed_cpus.c_str(), line.transport.c_str());
    }
    std::printf("#\n");
  }

  void print_columns() const {
    const bool samples = info_.options->per_iteration;
    const char* names = samples ? "     min      max      p99    cv%" : "";
    const char* units = samples ? "    (us)     (us)     (us)       " : "";
    const char* gap = samples ? "                                 " : "";
    std::printf("#%55s%14s%s%21s%14s\n", "", "out-of-place", gap, "", "in-place");
    std::printf("#%11s  %12s  %8s  %6s  %6s", "size", "count", "type", "redop", "root");
    for (int side = 0; side < 2; ++side) {
      std::printf("  %7s  %6s  %6s  %6s%s", "time", "algbw", "busbw", "#wrong", names);
    }
    std::printf("  plan\n#%11s  %12s  %8s  %6s  %6s", "(B)", "(elements)", "", "", "");
    for (int side = 0; side < 2; ++side) {
      std::printf("  %7s  %6s  %6s  %6s%s", info_.options->cpu_time ? "cpu(us)" : "(us)", "(GB/s)",
                  "(GB/s)", "", units);
    }
    std::printf("\n");
  }

  RunInfo info_;
};

}  // namespace

std::unique_ptr<Report> make_table_report() {
  return std::make_unique<TableReport>();
}

}  // namespace perf

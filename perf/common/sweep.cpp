// SPDX-License-Identifier: Apache-2.0
#include "perf/common/sweep.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "perf/common/failure.h"
#include "perf/common/report.h"
#include "perf/common/timing.h"

namespace perf {
namespace {

double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// A line on the terminal while a long run prints nothing for a while. It goes to stderr, and only
// when that is a terminal, so that no log and no pipe ever sees it.
class Progress {
 public:
  explicit Progress(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO) != 0) {}
  void show(const Row& row) {
    if (!wanted_ || std::chrono::steady_clock::now() - start_ < std::chrono::seconds(2)) return;
    std::fprintf(stderr, "\r# measuring %zu bytes, %s ... ", row.bytes,
                 std::string(name_of(row.type)).c_str());
    shown_ = true;
  }
  void clear() {
    if (shown_) std::fprintf(stderr, "\r%60s\r", "");
    shown_ = false;
  }

 private:
  bool wanted_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Sweep {
 public:
  Sweep(const Options& options, Library& library, Collective& collective)
      : options_(options),
        library_(library),
        collective_(collective),
        send_(library.allocate(options.max_bytes + options.unalign)),
        receive_(library.allocate(options.max_bytes + options.unalign)),
        progress_(library.rank() == 0) {
    if (library.rank() == 0) reports_ = make_reports(options);
  }

  int run() {
    begin();
    for (int cycle = 0; options_.cycles == 0 || cycle < options_.cycles; ++cycle) {
      for (const ElementType type : options_.types) sweep_type(type);
    }
    end();
    return summary_.wrong > 0 ? 1 : 0;
  }

 private:
  void begin() {
    RunInfo info;
    info.program = std::string(collective_.name()) + "_perf";
    info.library = library_.version();
    info.ranks = library_.rank_lines();
    info.options = &options_;
    for (const auto& report : reports_) report->begin(info);
  }

  void end() {
    if (sides_ > 0) summary_.average_bus_bandwidth = bandwidth_sum_ / sides_;
    if (options_.memory_report) {
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      double bytes = static_cast<double>(usage.ru_maxrss) * 1024.0;
      library_.combine({&bytes, 1}, Combine::max);
      summary_.peak_memory_bytes = bytes;
    }
    progress_.clear();
    for (const auto& report : reports_) report->end(summary_);
  }

  void sweep_type(ElementType type) {
    if (!collective_.has_operation()) return sweep_roots(type, std::nullopt);
    for (const Operation op : options_.operations) {
      if (library_.supports(type, op)) {
        sweep_roots(type, op);
      } else if (!options_.all_operations && !options_.all_types) {
        throw Failure(std::string(name_of(op)) + " is not defined for " +
                      std::string(name_of(type)) + " in " + library_.version() +
                      ": choose another -o or -d, or \"all\" for what exists.");
      }
    }
  }

  void sweep_roots(ElementType type, std::optional<Operation> op) {
    if (!collective_.has_root()) return sweep_sizes(type, op, -1);
    const int first = options_.all_roots ? 0 : options_.root;
    const int last = options_.all_roots ? library_.size() - 1 : options_.root;
    for (int root = first; root <= last; ++root) sweep_sizes(type, op, root);
  }

  void sweep_sizes(ElementType type, std::optional<Operation> op, int root) {
    for (const std::size_t bytes : options_.sizes(size_of(type))) {
      Row row;
      row.bytes = bytes;
      row.count = bytes / size_of(type);
      row.type = type;
      row.op = op;
      row.root = root;
      measure(row);
      for (const auto& report : reports_) report->row(row);
    }
  }

  void measure(Row& row) {
    progress_.show(row);
    if (options_.place != Place::in_place) row.out_of_place = measure_side(row, false);
    if (options_.place != Place::out_of_place) row.in_place = measure_side(row, true);
    row.timestamp = seconds_since_1970();
    row.plan = library_.plan();
    // Last, as the calls in it are collectives too and would hide the plan.
    add_wrong(row);
    progress_.clear();
  }

  Side measure_side(Row& row, bool in_place) {
    Call call;
    call.receive = receive_->data() + options_.unalign;
    call.send = in_place ? call.receive : send_->data() + options_.unalign;
    call.count = row.count;
    call.type = row.type;
    call.op = row.op.value_or(Operation::sum);
    call.root = row.root < 0 ? 0 : row.root;
    // Zeros stay zeros however often they are reduced in place: no infinities, no denormals.
    std::memset(const_cast<std::byte*>(call.send), 0, row.bytes);
    const Timing timing = time_call(options_, library_, collective_, call);
    row.iterations = timing.iterations;
    Side side;
    side.time_us = timing.microseconds;
    side.samples = timing.samples;
    side.algorithm_bandwidth = static_cast<double>(row.bytes) / (timing.microseconds * 1e3);
    side.bus_bandwidth = side.algorithm_bandwidth * collective_.bus_factor(library_.size());
    if (options_.checks > 0) side.wrong = check(call, row.bytes);
    return side;
  }

  // Wrong values on this rank, over all checked runs.
  double check(const Call& call, std::size_t bytes) {
    double wrong = 0;
    auto* const send = const_cast<std::byte*>(call.send);
    for (int i = 0; i < options_.checks; ++i) {
      const std::uint32_t iteration = ++checked_runs_;
      if (call.send != call.receive) poison_receive(call, bytes);
      collective_.fill(call, send, library_.rank(), library_.size(), iteration);
      collective_.repeat(call, 1);
      library_.wait_until_done();
      wrong += static_cast<double>(
          collective_.count_wrong(call, library_.rank(), library_.size(), iteration));
    }
    return wrong;
  }

  static void poison_receive(const Call& call, std::size_t bytes) {
    constexpr int nobodys_result = 0xa5;
    std::memset(call.receive, nobodys_result, bytes);
  }

  void add_wrong(Row& row) {
    std::array<double, 2> wrong{};
    if (row.out_of_place) wrong[0] = row.out_of_place->wrong.value_or(0);
    if (row.in_place) wrong[1] = row.in_place->wrong.value_or(0);
    library_.combine(wrong, Combine::sum);
    std::size_t index = 0;
    for (std::optional<Side>* side : {&row.out_of_place, &row.in_place}) {
      const double count = wrong[index++];
      if (!*side) continue;
      if ((*side)->wrong) (*side)->wrong = count;
      summary_.wrong += count;
      bandwidth_sum_ += (*side)->bus_bandwidth;
      ++sides_;
    }
  }

  const Options& options_;
  Library& library_;
  Collective& collective_;
  std::unique_ptr<Memory> send_;
  std::unique_ptr<Memory> receive_;
  std::vector<std::unique_ptr<Report>> reports_;
  Progress progress_;
  Summary summary_;
  double bandwidth_sum_ = 0;
  int sides_ = 0;
  std::uint32_t checked_runs_ = 0;
};

}  // namespace

int run_benchmark(const Options& options, Library& library, Collective& collective) {
  return Sweep(options, library, collective).run();
}

}  // namespace perf

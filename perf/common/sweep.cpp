// SPDX-License-Identifier: Apache-2.0
#include "perf/common/sweep.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "perf/common/barrier_check.h"
#include "perf/common/expectation.h"
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
        traits_(traits_of(collective.kind())),
        send_(library.allocate(buffer_bytes(options))),
        receive_(library.allocate(buffer_bytes(options))),
        progress_(library.rank() == 0) {
    if (library.rank() == 0) reports_ = make_reports(options);
  }

  int run() {
    refuse_impossible();
    begin();
    for (int cycle = 0; options_.cycles == 0 || cycle < options_.cycles; ++cycle) {
      for (const ElementType type : options_.types) sweep_type(type);
    }
    end();
    return summary_.wrong > 0 ? 1 : 0;
  }

 private:
  static std::size_t buffer_bytes(const Options& options) {
    return std::max<std::size_t>(options.max_bytes + options.unalign, 1);  // a barrier's: 0
  }

  void refuse_impossible() const {
    if (traits_.has_root && !options_.all_roots &&
        (options_.root < 0 || options_.root >= library_.size())) {
      throw Failure("-r " + std::to_string(options_.root) + " is no rank: there are " +
                    std::to_string(library_.size()) + ". -1 means all in turn.");
    }
    if (options_.place == Place::in_place && !collective_.has_in_place()) {
      throw Failure(std::string(traits_.title) + " has no form in place, or not NCCL's, in " +
                    library_.version() + ": leave --place out.");
    }
  }

  void begin() {
    RunInfo info;
    info.program = std::string(traits_.name) + "_perf";
    info.library = library_.version();
    info.ranks = library_.rank_lines();
    info.options = &options_;
    for (const RankLine& line : info.ranks) same_host_ &= line.host == info.ranks.front().host;
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
    if (!traits_.reduces) return sweep_roots(type, std::nullopt);
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
    if (!traits_.has_root) return sweep_sizes(type, op, -1);
    const int first = options_.all_roots ? 0 : options_.root;
    const int last = options_.all_roots ? library_.size() - 1 : options_.root;
    for (int root = first; root <= last; ++root) sweep_sizes(type, op, root);
  }

  // The size is that of the larger buffer; counts are rounded down.
  void sweep_sizes(ElementType type, std::optional<Operation> op, int root) {
    const std::size_t sections = sections_of(collective_.kind(), library_.size());
    for (const std::size_t bytes : options_.sizes(size_of(type) * sections)) {
      Row row;
      row.bytes = bytes;
      row.count = bytes / size_of(type) / sections;
      row.type = type;
      row.op = op;
      row.root = root;
      measure(row);
      for (const auto& report : reports_) report->row(row);
    }
  }

  void measure(Row& row) {
    progress_.show(row);
    if (collective_.kind() == CollectiveKind::alltoallv) {
      sections_ = alltoallv_sections(library_.rank(), library_.size(), row.count);
    }
    if (options_.place != Place::in_place) row.out_of_place = measure_side(row, false);
    const bool in_place = options_.place != Place::out_of_place && collective_.has_in_place();
    if (in_place) row.in_place = measure_side(row, true);
    row.timestamp = seconds_since_1970();
    row.plan = library_.plan();
    // Last, as the calls in it are collectives too and would hide the plan.
    add_wrong(row);
    progress_.clear();
  }

  // In place the shorter buffer is this rank's section of the longer one.
  Call call_of(const Row& row, bool in_place) {
    Call call;
    call.receive = receive_->data() + options_.unalign;
    call.send = in_place ? call.receive : send_->data() + options_.unalign;
    call.count = row.count;
    call.type = row.type;
    call.op = row.op.value_or(Operation::sum);
    call.root = row.root < 0 ? 0 : row.root;
    call.sections = &sections_;
    if (!in_place || traits_.send_sections == traits_.receive_sections) return call;
    const auto rank = static_cast<std::size_t>(library_.rank());
    (traits_.send_sections ? call.receive : call.send) += rank * row.count * size_of(row.type);
    return call;
  }

  Side measure_side(Row& row, bool in_place) {
    // Zeros stay zeros however often they are reduced in place: no infinities, no denormals.
    std::memset((in_place ? receive_ : send_)->data() + options_.unalign, 0, row.bytes);
    const Call call = call_of(row, in_place);
    const Timing timing = time_call(options_, library_, collective_, call);
    row.iterations = timing.iterations;
    Side side;
    side.time_us = timing.microseconds;
    side.samples = timing.samples;
    side.algorithm_bandwidth = static_cast<double>(row.bytes) / (timing.microseconds * 1e3);
    side.bus_bandwidth = side.algorithm_bandwidth * bus_factor(collective_.kind(), library_.size());
    if (options_.checks > 0) side.wrong = check(call);
    return side;
  }

  // Wrong values on this rank, over all checked runs.
  std::optional<double> check(const Call& call) {
    if (collective_.kind() == CollectiveKind::barrier) return check_barrier();
    double wrong = 0;
    for (int i = 0; i < options_.checks; ++i) {
      const CheckedRun run{collective_.kind(), library_.rank(), library_.size(), ++checked_runs_};
      prepare_buffers(run, call);
      collective_.repeat(call, 1);
      library_.wait_until_done();
      wrong += static_cast<double>(count_wrong(run, call));
    }
    return wrong;
  }

  // Each rank is once the late one.
  std::optional<double> check_barrier() {
    if (!same_host_) return std::nullopt;
    double wrong = 0;
    for (int late = 0; late < library_.size() * options_.checks; ++late) {
      wrong += left_too_early(library_, collective_, late % library_.size());
    }
    return wrong;
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
  const Traits& traits_;
  std::unique_ptr<Memory> send_;
  std::unique_ptr<Memory> receive_;
  std::vector<std::unique_ptr<Report>> reports_;
  Progress progress_;
  Summary summary_;
  Sections sections_;
  bool same_host_ = true;
  double bandwidth_sum_ = 0;
  int sides_ = 0;
  std::uint32_t checked_runs_ = 0;
};

}  // namespace

int run_benchmark(const Options& options, Library& library, Collective& collective) {
  return Sweep(options, library, collective).run();
}

}  // namespace perf

// SPDX-License-Identifier: Apache-2.0
#include "perf/common/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>

#include "perf/common/failure.h"

namespace perf {
namespace {

// Values as they are written, before they are interpreted.
struct Words {
  std::string collective = "allreduce";
  std::string operations = "sum";
  std::string types = "float";
  std::string root = "0";
  int average = 1;
  int buffers = 0;
  int blocking = 0;
  int per_iteration = 0;
  int cpu_time = 0;
  int timestamps = 0;
  int memory_report = 0;
  int null_stream = 1;
  int threads = 1;
  int gpus = 1;
  int graph = 0;
  int parallel_init = 0;
  int cta_policy = -1;
  int device_implementation = 0;
  int device_cta_count = 16;
  bool json = false;
};

const CLI::AsSizeValue as_size{false};  // K, M, G are powers of 1024

void add_sizes(CLI::App& app, Options& options) {
  app.add_option("-b,--minbytes", options.min_bytes, "Smallest size in bytes (suffix K, M, G)")
      ->transform(as_size);
  app.add_option("-e,--maxbytes", options.max_bytes, "Largest size in bytes")->transform(as_size);
  app.add_option("-i,--stepbytes", options.step_bytes, "Sizes grow by this many bytes")
      ->transform(as_size);
  app.add_option("-f,--stepfactor", options.step_factor, "Sizes grow by this factor (over -i)");
  app.add_option("--sizes", options.listed_sizes, "Exactly these sizes, in place of -b -e -i -f")
      ->transform(as_size)
      ->delimiter(',');
}

void add_work(CLI::App& app, Options& options, Words& words) {
  app.add_option("-o,--op", words.operations,
                 "sum prod min max avg mulsum band bor bxor, a comma list, or all");
  app.add_option("-d,--datatype", words.types,
                 "int8 uint8 int32 uint32 int64 uint64 half float double bfloat16 f8e4m3 f8e5m2, "
                 "a comma list, or all");
  app.add_option("-r,--root", words.root, "Root rank; -1 or all: each in turn");
  app.add_option("-c,--check", options.checks, "Checked runs of each row; 0: none")
      ->check(CLI::NonNegativeNumber);
  app.add_option("-R,--local_register", words.buffers,
                 "Buffers: 0 malloc, 1 registered and shared in place, 2 gyreMemAlloc")
      ->check(CLI::Range(0, 2));
  app.add_option("-u,--unalign", options.unalign, "Bytes by which buffers miss page alignment")
      ->check(CLI::Range(0, 4095));
  app.add_option("--place", options.place, "both, out or in: which forms are run")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Place>{
          {"both", Place::both}, {"out", Place::out_of_place}, {"in", Place::in_place}}));
}

void add_timing(CLI::App& app, Options& options, Words& words) {
  app.add_option("-n,--iters", options.iterations, "Timed iterations")->check(CLI::PositiveNumber);
  app.add_option("-w,--warmup_iters", options.warmups, "Iterations before the clock starts")
      ->check(CLI::NonNegativeNumber);
  app.add_option("-m,--agg_iters", options.aggregated, "Operations of an iteration, in one group")
      ->check(CLI::PositiveNumber);
  app.add_option("-N,--run_cycles", options.cycles, "Repeat the whole run; 0: for ever")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--min-time", options.min_time_ms,
                 "Iterate more than -n until a row has taken this many milliseconds")
      ->check(CLI::NonNegativeNumber);
  app.add_option("-a,--average", words.average, "Time over ranks: 0 rank 0, 1 mean, 2 min, 3 max")
      ->check(CLI::Range(0, 3));
  app.add_option("-I,--per_iter_timing", words.per_iteration,
                 "Time each iteration: min, max, p99 and variation")
      ->check(CLI::Range(0, 1));
  app.add_option("-K,--per_iter_skip", options.skipped_samples, "Samples that -I leaves out first")
      ->check(CLI::NonNegativeNumber);
  app.add_option("-C,--report_cputime", words.cpu_time, "CPU time of the process, not elapsed time")
      ->check(CLI::Range(0, 1));
  app.add_option("-z,--blocking", words.blocking, "Wait after each operation (with -y 0)")
      ->check(CLI::Range(0, 3));
  app.add_option("-y,--stream_null", words.null_stream,
                 "1: the calling thread works; 0: a Gyre stream does")
      ->check(CLI::Range(0, 1));
  app.add_option("-T,--timeout", options.timeout_s, "Seconds to wait for a rank inside a call")
      ->check(CLI::NonNegativeNumber);
}

void add_output(CLI::App& app, Options& options, Words& words) {
  const std::map<std::string, Format> formats{
      {"nccl", Format::nccl}, {"osu", Format::osu}, {"csv", Format::csv}, {"json", Format::json}};
  app.add_option("--format", options.format, "nccl, osu, csv or json")
      ->transform(CLI::CheckedTransformer(formats));
  app.add_flag("--json", words.json, "The same as --format json");
  app.add_option("-J,--output_file", options.output_file, "Also write JSON to this file");
  app.add_option("-S,--report_timestamps", words.timestamps, "Add the time of day to each row")
      ->check(CLI::Range(0, 1));
  app.add_option("-M,--memory", words.memory_report, "Report the peak resident memory at the end")
      ->check(CLI::Range(0, 1));
}

void add_ranks(CLI::App& app, Options& options, Words& words) {
  app.add_option("--ranks", options.ranks, "Start this many ranks on this host")
      ->check(CLI::Range(1, 4096));
  app.add_option("--bind", options.binding,
                 "core: rank i on the i-th allowed CPU; none; default core while CPUs last")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Binding>{{"core", Binding::core}, {"none", Binding::none}}));
  app.add_option("-t,--nthreads", words.threads, "Must be 1: one rank is one process");
  app.add_option("-g,--ngpus", words.gpus, "Must be 1: one rank is one process");
  app.add_option("-G,--cudagraph", words.graph, "Must be 0: buffers are in CPU memory");
  app.add_option("-p,--parallel_init", words.parallel_init, "Ignored: ranks always join together");
  app.add_option("-x,--cta_policy", words.cta_policy, "Ignored: no GPU kernels");
  app.add_option("-D,--device_implementation", words.device_implementation,
                 "Ignored: no GPU kernels");
  app.add_option("-V,--device_cta_count", words.device_cta_count, "Ignored: no GPU kernels");
}

void refuse_gpu_only(const Words& words) {
  if (words.threads != 1 || words.gpus != 1) {
    throw Failure(
        "-t and -g must be 1: one rank is one process here. Use --ranks N, or a launcher such as "
        "mpirun -np N.");
  }
  if (words.graph != 0) {
    throw Failure(
        "-G (CUDA graphs) needs buffers in GPU memory; this benchmark's are in CPU "
        "memory. Leave it out.");
  }
}

void note_ignored(const CLI::App& app, Options& options) {
  for (const char* name : {"-p", "-x", "-D", "-V"}) {
    if (app.count(name) > 0) options.notes.push_back(std::string(name) + " has no effect on CPUs");
  }
  if (app.count("-z") > 0 && options.null_stream) {
    options.notes.emplace_back("-z has no effect without -y 0: the calls block anyway");
  }
  const Traits& traits = traits_of(options.collective);
  if (app.count("-o") > 0 && !traits.reduces) {
    options.notes.push_back("-o has no effect: " + std::string(traits.title) + " reduces nothing");
  }
  if (app.count("-r") > 0 && !traits.has_root) {
    options.notes.push_back("-r has no effect: " + std::string(traits.title) + " has no root");
  }
}

// A barrier has one row.
void leave_out_sizes(Options& options) {
  options.min_bytes = 0;
  options.max_bytes = 0;
  options.listed_sizes.clear();
  options.types.resize(1);
}

void interpret_sizes(Options& options) {
  if (options.collective == CollectiveKind::barrier) leave_out_sizes(options);
  if (!options.listed_sizes.empty()) {
    const auto [least, most] =
        std::minmax_element(options.listed_sizes.begin(), options.listed_sizes.end());
    options.min_bytes = *least;
    options.max_bytes = *most;
  }
  if (options.min_bytes > options.max_bytes) {
    throw Failure("-b (" + std::to_string(options.min_bytes) + ") is larger than -e (" +
                  std::to_string(options.max_bytes) + ").");
  }
  if (options.step_factor != 0 && options.step_factor <= 1) {
    throw Failure("-f must be larger than 1, or the sizes would not grow.");
  }
}

void interpret(const CLI::App& app, const Words& words, Options& options) {
  refuse_gpu_only(words);
  options.operations = parse_operations(words.operations);
  options.all_operations = words.operations == "all";
  options.types = parse_types(words.types);
  options.all_types = words.types == "all";
  options.all_roots = words.root == "all" || words.root == "-1";
  if (!options.all_roots && !CLI::detail::lexical_cast(words.root, options.root)) {
    throw Failure("-r takes a rank, -1 or \"all\", not \"" + words.root + "\".");
  }
  options.average = static_cast<Average>(words.average);
  options.buffers = static_cast<Buffers>(words.buffers);
  options.blocking = words.blocking != 0;
  options.null_stream = words.null_stream != 0;
  options.per_iteration = words.per_iteration != 0;
  options.cpu_time = words.cpu_time != 0;
  options.timestamps = words.timestamps != 0;
  options.memory_report = words.memory_report != 0;
  if (words.json) options.format = Format::json;
  interpret_sizes(options);
  if (options.per_iteration && options.skipped_samples >= options.iterations) {
    throw Failure("-K must be smaller than -n, or no sample would be left.");
  }
  note_ignored(app, options);
}

}  // namespace

std::vector<std::size_t> Options::sizes(std::size_t element) const {
  std::vector<std::size_t> found;
  for (const std::size_t bytes : listed_sizes) found.push_back(bytes / element * element);
  if (!found.empty()) return found;
  double size = static_cast<double>(min_bytes);
  while (size <= static_cast<double>(max_bytes)) {
    const auto bytes = static_cast<std::size_t>(size) / element * element;
    if (found.empty() || bytes != found.back()) found.push_back(bytes);
    const double next =
        step_factor > 1 ? size * step_factor : size + static_cast<double>(step_bytes);
    if (next <= size) break;  // a step of 0, or a factor of 0: one size
    size = next;
  }
  return found;
}

std::optional<Options> parse_options(int argc, char** argv, const std::string& library,
                                     std::optional<CollectiveKind> collective, int* exit_status) {
  Options options;
  Words words;
  const std::string what = collective ? std::string(traits_of(*collective).title) : "a collective";
  CLI::App app{"Times and checks " + what + " of " + library + ", as nccl-tests does"};
  if (!collective) {
    app.add_option(
        "--collective", words.collective,
        "allreduce, reduce, reducescatter, allgather, broadcast, gather, scatter, alltoall, "
        "alltoallv, sendrecv or barrier");
  }
  add_sizes(app, options);
  add_work(app, options, words);
  add_timing(app, options, words);
  add_output(app, options, words);
  add_ranks(app, options, words);
  try {
    app.parse(argc, argv);
    options.collective = collective ? *collective : parse_collective(words.collective);
    interpret(app, words, options);
  } catch (const CLI::ParseError& error) {
    *exit_status = app.exit(error);
    return std::nullopt;
  }
  return options;
}

}  // namespace perf

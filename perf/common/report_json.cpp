// SPDX-License-Identifier: Apache-2.0
// One JSON document for the whole run, with the keys of nccl-tests and a few more.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "perf/common/failure.h"
#include "perf/common/report.h"

namespace perf {
namespace {

using Json = nlohmann::ordered_json;

Json side_json(const Side& side, bool cpu_time) {
  Json json;
  json[cpu_time ? "cpu_time" : "time"] = side.time_us;
  json["alg_bw"] = side.algorithm_bandwidth;
  json["bus_bw"] = side.bus_bandwidth;
  json["nwrong"] = side.wrong ? Json(*side.wrong) : Json(nullptr);
  if (side.samples) {
    json["min"] = side.samples->min;
    json["max"] = side.samples->max;
    json["p99"] = side.samples->p99;
    json["cv_percent"] = side.samples->variation_percent;
  }
  return json;
}

Json config_json(const Options& options) {
  Json json;
  json["nthreads"] = 1;
  json["ngpus"] = 1;
  json["minimum_bytes"] = options.min_bytes;
  json["maximum_bytes"] = options.max_bytes;
  if (options.step_factor > 1) {
    json["step_factor"] = options.step_factor;
  } else {
    json["step_bytes"] = options.step_bytes;
  }
  json["warmup_iters"] = options.warmups;
  json["iterations"] = options.iterations;
  json["aggregated_iterations"] = options.aggregated;
  json["minimum_time_ms"] = options.min_time_ms;
  json["validation"] = options.checks;
  json["graph"] = 0;
  json["blocking_collectives"] = options.null_stream || options.blocking;
  json["average"] = static_cast<int>(options.average);
  json["buffers"] = static_cast<int>(options.buffers);
  json["unalign"] = options.unalign;
  return json;
}

Json ranks_json(const std::vector<RankLine>& ranks) {
  Json json = Json::array();
  for (const RankLine& line : ranks) {
    json.push_back({{"rank", line.rank},
                    {"pid", line.pid},
                    {"host", line.host},
                    {"cpu", line.cpu},
                    {"allowed_cpus", line.allowed_cpus},
                    {"transport", line.transport}});
  }
  return json;
}

class JsonReport : public Report {
 public:
  explicit JsonReport(const std::string& file) : file_(file) {
    if (file.empty()) return;
    stream_.open(file);
    if (!stream_) throw Failure("Cannot write " + file + ", which -J names.");
  }

  void begin(const RunInfo& info) override {
    cpu_time_ = info.options->cpu_time;
    document_["program"] = info.program;
    document_["library"] = info.library;
    document_["nranks"] = info.ranks.size();
    document_["config"] = config_json(*info.options);
    document_["ranks"] = ranks_json(info.ranks);
    document_["results"] = Json::array();
  }

  void row(const Row& row) override {
    Json json;
    json["size"] = row.bytes;
    json["count"] = row.count;
    json["type"] = name_of(row.type);
    json["redop"] = row.op ? name_of(*row.op) : "none";
    json["root"] = row.root;
    if (row.out_of_place) json["out_of_place"] = side_json(*row.out_of_place, cpu_time_);
    if (row.in_place) json["in_place"] = side_json(*row.in_place, cpu_time_);
    json["actual_iterations"] = row.iterations;
    json["experiment_name"] = document_["program"];
    json["plan"] = row.plan;
    json["timestamp"] = row.timestamp;
    document_["results"].push_back(std::move(json));
  }

  void end(const Summary& summary) override {
    document_["out_of_bounds"] = {{"count", summary.wrong}, {"okay", summary.wrong == 0}};
    document_["average_bus_bandwidth"] = summary.average_bus_bandwidth;
    if (summary.peak_memory_bytes) {
      document_["peak_resident_bytes"] = *summary.peak_memory_bytes;
    }
    std::ostream& out = file_.empty() ? std::cout : stream_;
    out << document_.dump(2) << '\n' << std::flush;
  }

 private:
  std::string file_;
  std::ofstream stream_;
  Json document_;
  bool cpu_time_ = false;
};

}  // namespace

std::unique_ptr<Report> make_json_report(const std::string& file) {
  return std::make_unique<JsonReport>(file);
}

}  // namespace perf

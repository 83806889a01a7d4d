// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/msccl_xml.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/parse.h"
#include "collectives/layout.h"

namespace gyre::tool {
namespace {

using Kind = ForeignAction::Kind;

constexpr int most_ranks = 4096;
constexpr int most_chunks = 65536;

// What a step of each type does. "r" takes a message, "s" sends one, "c" stores, "rr" combines the
// message with what is there.
struct StepType {
  std::string_view name;
  bool takes, combines, stores, sends;
};
constexpr StepType step_types[] = {
    {"s", false, false, false, true}, {"r", true, false, true, false},
    {"rcs", true, false, true, true}, {"rrc", true, true, true, false},
    {"rrs", true, true, false, true}, {"rrcs", true, true, true, true},
};

// Each member function answers false after the first fault, which it has kept.
class Reader {
 public:
  Result<ForeignPlan> read(const pugi::xml_document& document, int root) {
    plan_.root = root;
    const pugi::xml_node algo = document.child("algo");
    if (!algo) return fail(Code::invalid_argument, "It has no element <algo>.");
    if (read_algo(algo) && read_gpus(algo)) return std::move(plan_);
    return fail(code_, fault_);
  }

 private:
  bool refuse(std::string_view what, Code code = Code::invalid_argument) {
    code_ = code;
    fault_ = where_.empty() ? std::string(what) : fmt::format("At {}: {}", where_, what);
    return false;
  }

  bool check_attributes(const pugi::xml_node& node, std::initializer_list<std::string_view> known) {
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      if (std::find(known.begin(), known.end(), attribute.name()) == known.end()) {
        return refuse(
            fmt::format("<{}> has an attribute \"{}\" that is not known here, so what it "
                        "asks for would be lost.",
                        node.name(), attribute.name()));
      }
    }
    return true;
  }

  bool read_number(const pugi::xml_node& node, const char* name, int least, int most, int& into) {
    const pugi::xml_attribute attribute = node.attribute(name);
    const auto number = parse_integer(attribute.value());
    if (!number || *number < least || *number > most) {
      return refuse(fmt::format("{} of <{}> is \"{}\": it must be a number from {} to {}.", name,
                                node.name(), attribute.value(), least, most));
    }
    into = static_cast<int>(*number);
    return true;
  }

  bool read_algo(const pugi::xml_node& algo) {
    if (!check_attributes(algo, {"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll",
                                 "inplace", "outofplace", "redop", "minBytes", "maxBytes"})) {
      return false;
    }
    plan_.name = algo.attribute("name").value();
    plan_.protocol = plan::Protocol::staged;
    const auto collective = foreign_collective(algo.attribute("coll").value());
    if (!collective) return refuse(collective.error().message, collective.error().code);
    plan_.collective = *collective;
    int in_place = 0;
    if (!read_number(algo, "ngpus", 1, most_ranks, ranks_)) return false;
    if (algo.attribute("inplace") && !read_number(algo, "inplace", 0, 1, in_place)) return false;
    plan_.in_place = in_place == 1;
    plan_.ranks.resize(static_cast<std::size_t>(ranks_));
    return true;
  }

  bool read_gpus(const pugi::xml_node& algo) {
    std::vector<bool> seen(static_cast<std::size_t>(ranks_));
    for (const pugi::xml_node& gpu : algo.children()) {
      where_ = "an element of <algo>";
      if (std::string_view(gpu.name()) != "gpu") {
        return refuse(fmt::format("<{}> is not known here.", gpu.name()));
      }
      if (!check_attributes(gpu, {"id", "i_chunks", "o_chunks", "s_chunks"}) ||
          !read_number(gpu, "id", 0, ranks_ - 1, rank_)) {
        return false;
      }
      where_ = fmt::format("gpu {}", rank_);
      if (seen[static_cast<std::size_t>(rank_)]) return refuse("it is there twice.");
      seen[static_cast<std::size_t>(rank_)] = true;
      if (!read_chunks(gpu) || !read_threads(gpu)) return false;
    }
    where_.clear();
    const auto missing = std::find(seen.begin(), seen.end(), false);
    return missing == seen.end() ||
           refuse(fmt::format("gpu {} of {} is missing.", missing - seen.begin(), ranks_));
  }

  bool read_chunks(const pugi::xml_node& gpu) {
    int input = 0;
    int output = 0;
    if (!read_number(gpu, "i_chunks", 0, most_chunks, input) ||
        !read_number(gpu, "o_chunks", 0, most_chunks, output)) {
      return false;
    }
    plan_.chunks = std::max({plan_.chunks, input, output});
    const bool sectioned = plan::layout_of(plan_.collective).sectioned;
    return !sectioned || plan_.chunks <= ranks_ ||
           refuse(fmt::format("{} chunks for {} gpus: a section is one chunk in Gyre, which cuts "
                              "it into tiles by itself.",
                              plan_.chunks, ranks_),
                  Code::not_supported);
  }

  bool read_threads(const pugi::xml_node& gpu) {
    auto& threads = plan_.ranks[static_cast<std::size_t>(rank_)].threads;
    threads_ = static_cast<int>(std::distance(gpu.begin(), gpu.end()));
    for (const pugi::xml_node& tb : gpu.children()) {
      const int number = static_cast<int>(threads.size());
      where_ = fmt::format("gpu {}, thread block {}", rank_, number);
      if (std::string_view(tb.name()) != "tb") {
        return refuse(fmt::format("<{}> is not known here.", tb.name()));
      }
      int id = 0;
      if (!check_attributes(tb, {"id", "send", "recv", "chan"}) ||
          !read_number(tb, "id", number, number, id) ||
          !read_number(tb, "send", -1, ranks_ - 1, send_) ||
          !read_number(tb, "recv", -1, ranks_ - 1, receive_) ||
          !read_number(tb, "chan", 0, most_chunks, channel_)) {
        return false;
      }
      threads.emplace_back();
      for (const pugi::xml_node& step : tb.children()) {
        if (!read_step(step, threads.back())) return false;
      }
    }
    return true;
  }

  bool read_step(const pugi::xml_node& node, std::vector<ForeignAction>& thread) {
    const int number = thread.empty() ? 0 : thread.back().step + 1;
    where_ = fmt::format("gpu {}, thread block {}, step {}", rank_,
                         plan_.ranks[static_cast<std::size_t>(rank_)].threads.size() - 1, number);
    int step = 0;
    int count = 0;
    ForeignAction action;
    if (std::string_view(node.name()) != "step") {
      return refuse(fmt::format("<{}> is not known here.", node.name()));
    }
    if (!check_attributes(node, {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt",
                                 "depid", "deps", "hasdep"}) ||
        !read_number(node, "s", number, number, step) || !read_needs(node, action)) {
      return false;
    }
    action.step = step;
    const std::string_view type = node.attribute("type").value();
    if (type == "nop") {
      thread.push_back(action);
      return true;
    }
    ForeignChunk source;
    ForeignChunk destination;
    if (!read_number(node, "cnt", 1, most_chunks, count) ||
        !read_chunk(node, "srcbuf", "srcoff", source) ||
        !read_chunk(node, "dstbuf", "dstoff", destination)) {
      return false;
    }
    for (int i = 0; i < count; ++i, ++source.index, ++destination.index) {
      if (!fill(type, source, destination, action)) return false;
      thread.push_back(action);
    }
    return true;
  }

  bool read_needs(const pugi::xml_node& node, ForeignAction& action) {
    ForeignAction::Need need;
    if (!read_number(node, "depid", -1, threads_ - 1, need.thread) ||
        !read_number(node, "deps", -1, most_chunks, need.step)) {
      return false;
    }
    if (need.thread >= 0) action.needs.push_back(need);
    return true;
  }

  bool read_chunk(const pugi::xml_node& node, const char* buffer, const char* offset,
                  ForeignChunk& chunk) {
    const std::string_view name = node.attribute(buffer).value();
    if (name == "i") {
      chunk.buffer = ForeignBuffer::input;
    } else if (name == "o") {
      chunk.buffer = ForeignBuffer::output;
    } else if (name == "s") {
      chunk.buffer = ForeignBuffer::scratch;
    } else {
      return refuse(fmt::format("{} is \"{}\": it must be i, o or s.", buffer, name));
    }
    chunk.rank = rank_;
    // -1 where the step has no such operand.
    return read_number(node, offset, -1, most_chunks, chunk.index);
  }

  bool fill(std::string_view type, const ForeignChunk& source, const ForeignChunk& destination,
            ForeignAction& action) {
    action.kind = Kind::move;
    action.from.clear();
    action.to.clear();
    if (type == "cpy" || type == "re") {
      if (type == "re") action.from.emplace_back(destination);
      action.from.emplace_back(source);
      action.to.emplace_back(destination);
      return true;
    }
    const auto* const row = std::find_if(std::begin(step_types), std::end(step_types),
                                         [&](const StepType& each) { return each.name == type; });
    if (row == std::end(step_types)) {
      return refuse(fmt::format("The type \"{}\" of a step is not known here.", type),
                    Code::not_supported);
    }
    if ((row->takes && receive_ < 0) || (row->sends && send_ < 0)) {
      return refuse(fmt::format("A step \"{}\" in a thread block that has no peer for it.", type));
    }
    if (row->takes) action.from.emplace_back(ForeignMessage{receive_, channel_});
    if (!row->takes || row->combines) action.from.emplace_back(source);
    if (row->stores) action.to.emplace_back(destination);
    if (row->sends) action.to.emplace_back(ForeignMessage{send_, channel_});
    return true;
  }

  ForeignPlan plan_;
  Code code_ = Code::invalid_argument;
  std::string fault_;
  std::string where_;
  int ranks_ = 0;
  // Of the element at hand.
  int rank_ = 0, threads_ = 0, send_ = -1, receive_ = -1, channel_ = 0;
};

}  // namespace

Result<ForeignPlan> read_msccl_xml(std::string_view text, int root) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    return fail(Code::invalid_argument,
                fmt::format("It is no XML: {} at byte {}.", parsed.description(), parsed.offset));
  }
  return Reader().read(document, root);
}

}  // namespace gyre::tool

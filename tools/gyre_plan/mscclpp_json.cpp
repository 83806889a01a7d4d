// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/mscclpp_json.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "collectives/layout.h"
#include "collectives/plan_json_document.h"

namespace gyre::tool {
namespace {

using plan::Json;
using plan::Where;
using Kind = ForeignAction::Kind;

constexpr std::int64_t most_ranks = 4096;
constexpr std::int64_t most_chunks = 65536;

enum class Shape : std::uint8_t {
  nothing,
  copies,
  combines,
  signal,
  await,
  barrier,
  put_and_signal
};

struct Operation {
  std::string_view name;
  Shape shape;
};
// As the executor names them. Others (pipelines, semaphores, switches) have no equivalent.
constexpr Operation operations[] = {
    {"nop", Shape::nothing},      {"flush", Shape::nothing},      {"copy", Shape::copies},
    {"put", Shape::copies},       {"get", Shape::copies},         {"ppkt", Shape::copies},
    {"cpkt", Shape::copies},      {"upkt", Shape::copies},        {"rppkt", Shape::copies},
    {"re", Shape::combines},      {"res", Shape::combines},       {"rre", Shape::combines},
    {"rres", Shape::combines},    {"repkt", Shape::combines},     {"respkt", Shape::combines},
    {"recpkt", Shape::combines},  {"recspkt", Shape::combines},   {"signal", Shape::signal},
    {"rlxsignal", Shape::signal}, {"wait", Shape::await},         {"rlxwait", Shape::await},
    {"barrier", Shape::barrier},  {"pws", Shape::put_and_signal}, {"pwsf", Shape::put_and_signal}};

// Each member function answers false after the first fault, which it has kept.
class Reader : plan::FieldReader {
 public:
  Result<ForeignPlan> read(const Json& document, int root) {
    plan_.root = root;
    const Where top;
    if (read_heading(top, document) && read_gpus(top, document)) return std::move(plan_);
    return fault();
  }

 private:
  bool read_heading(const Where& where, const Json& document) {
    std::string collective;
    std::string protocol;
    if (!read_text(where, document, "name", plan_.name) ||
        !read_text(where, document, "collective", collective) ||
        !read_text(where, document, "protocol", protocol)) {
      return false;
    }
    const auto known = foreign_collective(collective);
    if (!known) {
      return refuse({&where, "collective"}, known.error().message, known.error().code);
    }
    plan_.collective = *known;
    if (protocol != "Simple" && protocol != "LL") {
      return refuse({&where, "protocol"}, fmt::format("\"{}\" is not known here.", protocol));
    }
    packets_ = protocol == "LL";
    plan_.protocol = packets_ ? plan::Protocol::staged : plan::Protocol::direct;
    return read_boolean(where, document, "inplace", plan_.in_place);
  }

  bool read_gpus(const Where& top, const Json& document) {
    const Json* const gpus = array_member(top, document, "gpus");
    if (gpus == nullptr) return false;
    const Where where{&top, "gpus"};
    if (gpus->empty() || gpus->size() > static_cast<std::size_t>(most_ranks)) {
      return refuse(where, fmt::format("there must be 1 to {} of them.", most_ranks));
    }
    plan_.ranks.resize(gpus->size());
    for (std::size_t rank = 0; rank < gpus->size(); ++rank) {
      if (!read_gpu({&where, rank}, (*gpus)[rank], static_cast<int>(rank))) return false;
    }
    return check_packets(where);
  }

  bool read_gpu(const Where& where, const Json& gpu, int rank) {
    rank_ = rank;
    int id = 0;
    int input = 0;
    int output = 0;
    if (!read_integer(where, gpu, "id", rank, rank, id) ||
        !read_integer(where, gpu, "input_chunks", 0, most_chunks, input) ||
        !read_integer(where, gpu, "output_chunks", 0, most_chunks, output)) {
      return false;
    }
    plan_.chunks = std::max({plan_.chunks, input, output});
    const int ranks = static_cast<int>(plan_.ranks.size());
    if (plan::layout_of(plan_.collective).sectioned && plan_.chunks > ranks) {
      return refuse(where,
                    fmt::format("{} chunks for {} gpus: a section is one chunk in Gyre, "
                                "which cuts it into tiles by itself.",
                                plan_.chunks, ranks),
                    Code::not_supported);
    }
    return read_channels(where, gpu) && read_remote_buffers(where, gpu) && read_threads(where, gpu);
  }

  bool read_channels(const Where& gpu, const Json& object) {
    channels_.clear();
    const Json* const list = array_member(gpu, object, "channels");
    if (list == nullptr) return false;
    const Where where{&gpu, "channels"};
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Where here{&where, i};
      std::string type;
      if (!read_text(here, (*list)[i], "channel_type", type)) return false;
      if (type != "memory" && type != "port") {
        return refuse(here,
                      fmt::format("a {} channel combines in the network; no step of a plan "
                                  "does that.",
                                  type),
                      Code::not_supported);
      }
      const Json* const peers = array_member(here, (*list)[i], "connected_to");
      if (peers == nullptr) return false;
      for (const Json& peer : *peers) {
        int rank = 0;
        if (!check_integer({&here, "connected_to"}, peer, 0, last_rank(), rank)) return false;
        channels_[type].push_back(rank);
      }
    }
    return true;
  }

  bool read_remote_buffers(const Where& gpu, const Json& object) {
    remote_.clear();
    const Json* const list = array_member(gpu, object, "remote_buffers");
    if (list == nullptr) return false;
    const Where where{&gpu, "remote_buffers"};
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Where here{&where, i};
      ForeignChunk chunk;
      if (!read_integer(here, (*list)[i], "rank", 0, last_rank(), chunk.rank) ||
          !read_buffer(here, (*list)[i], chunk.buffer)) {
        return false;
      }
      remote_.push_back(chunk);
    }
    return true;
  }

  bool read_buffer(const Where& where, const Json& object, ForeignBuffer& into) {
    std::string type;
    if (!read_text(where, object, "type", type)) return false;
    if (type != "i" && type != "o" && type != "s") {
      return refuse({&where, "type"},
                    fmt::format("\"{}\" is no buffer: there are i, o and s.", type));
    }
    into = type == "i"   ? ForeignBuffer::input
           : type == "o" ? ForeignBuffer::output
                         : ForeignBuffer::scratch;
    return true;
  }

  bool read_threads(const Where& gpu, const Json& object) {
    const Json* const list = array_member(gpu, object, "threadblocks");
    if (list == nullptr) return false;
    const Where where{&gpu, "threadblocks"};
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Where here{&where, i};
      const Json* const ops = array_member(here, (*list)[i], "ops");
      if (ops == nullptr) return false;
      const Where at_ops{&here, "ops"};
      auto& thread = plan_.ranks[static_cast<std::size_t>(rank_)].threads.emplace_back();
      for (std::size_t step = 0; step < ops->size(); ++step) {
        step_ = static_cast<int>(step);
        if (!read_operation({&at_ops, step}, (*ops)[step], thread)) return false;
      }
    }
    return true;
  }

  bool read_operation(const Where& where, const Json& object, std::vector<ForeignAction>& thread) {
    std::string name;
    if (!read_text(where, object, "name", name)) return false;
    const auto* const row = std::find_if(std::begin(operations), std::end(operations),
                                         [&](const Operation& each) { return each.name == name; });
    if (row == std::end(operations) || object.contains("tbg_info")) {
      return refuse(where, fmt::format("\"{}\" has no equivalent in a plan.", name),
                    Code::not_supported);
    }
    switch (row->shape) {
      case Shape::nothing:
        return true;
      case Shape::copies:
      case Shape::combines:
        return add_moves(where, object, row->shape == Shape::combines, thread);
      case Shape::signal:
      case Shape::await:
        return add_signals(where, object, row->shape == Shape::signal, thread);
      case Shape::barrier:
        return add_barrier(where, object, thread);
      case Shape::put_and_signal:
        return add_moves(where, object, false, thread) && add_signals(where, object, true, thread);
    }
    return false;
  }

  [[nodiscard]] ForeignAction new_action(Kind kind) const {
    ForeignAction action;
    action.kind = kind;
    action.step = step_;
    return action;
  }

  bool add_signals(const Where& where, const Json& object, bool signal,
                   std::vector<ForeignAction>& thread) {
    std::string type;
    const Json* const ids = array_member(where, object, "channel_ids");
    if (ids == nullptr || !read_text(where, object, "channel_type", type)) return false;
    if (packets_) {
      return refuse(where, "signals in a plan with packets, which carry their own flags.",
                    Code::not_supported);
    }
    const std::vector<int>& peers = channels_[type];
    for (const Json& id : *ids) {
      ForeignAction action = new_action(signal ? Kind::signal : Kind::await);
      int number = 0;
      if (!check_integer({&where, "channel_ids"}, id, 0,
                         static_cast<std::int64_t>(peers.size()) - 1, number)) {
        return false;
      }
      action.peer = peers[static_cast<std::size_t>(number)];
      action.channel = channel_between(type, number);
      thread.push_back(action);
    }
    return true;
  }
  // The k-th channel of a type from here to a peer is the k-th from there to here.
  int channel_between(const std::string& type, int number) {
    const std::vector<int>& peers = channels_[type];
    const auto here = peers.begin() + number;
    return static_cast<int>(std::count(peers.begin(), here, *here)) * 2 + (type == "port" ? 1 : 0);
  }

  bool add_barrier(const Where& where, const Json& object, std::vector<ForeignAction>& thread) {
    ForeignAction action = new_action(Kind::barrier);
    if (!read_integer(where, object, "barrier_id", 0, most_chunks, action.channel) ||
        !read_integer(where, object, "num_threadblocks", 1, most_chunks, action.members)) {
      return false;
    }
    thread.push_back(std::move(action));
    return true;
  }

  struct Range {
    ForeignChunk first;
    int size = 0;
  };
  struct Move {
    std::vector<Range> from, to;
  };

  ForeignAction action_of(const Move& move, int chunk) {
    ForeignAction action = new_action(Kind::move);
    for (const Range& range : move.from) action.from.emplace_back(chunk_of(range, chunk));
    for (const Range& range : move.to) action.to.push_back(destination(range, chunk));
    return action;
  }

  // One action for each chunk of the operands, and in a copy for each pair of operands.
  bool add_moves(const Where& where, const Json& object, bool combines,
                 std::vector<ForeignAction>& thread) {
    std::vector<Range> sources;
    std::vector<Range> destinations;
    if (!read_ranges(where, object, "src_buff", sources) ||
        !read_ranges(where, object, "dst_buff", destinations)) {
      return false;
    }
    std::vector<Move> moves;
    const bool in_pairs = !combines && sources.size() == destinations.size();
    for (std::size_t i = 0; in_pairs && i < sources.size(); ++i) {
      moves.push_back({{sources[i]}, {destinations[i]}});
    }
    if (!in_pairs) moves.push_back({sources, destinations});
    if (!in_pairs && !combines && sources.size() != 1) {
      return refuse(where, "its sources and destinations do not pair up.");
    }
    for (int chunk = 0; chunk < sources.front().size; ++chunk) {
      for (const Move& move : moves) thread.push_back(action_of(move, chunk));
    }
    return true;
  }

  bool read_ranges(const Where& operation, const Json& object, std::string_view key,
                   std::vector<Range>& ranges) {
    const Json* const list = array_member(operation, object, key);
    if (list == nullptr) return false;
    const Where where{&operation, key};
    for (std::size_t i = 0; i < list->size(); ++i) {
      Range range;
      if (!read_range({&where, i}, (*list)[i], range)) return false;
      ranges.push_back(range);
      if (range.size != ranges.front().size) return refuse({&where, i}, "sizes differ.");
    }
    return !ranges.empty() || refuse(where, "it is empty.");
  }

  bool read_range(const Where& where, const Json& object, Range& range) {
    if (!object.is_object()) return refuse(where, "it must be an object.");
    if (object.contains("buffer_id")) {
      int id = 0;
      if (!read_integer(where, object, "buffer_id", 0,
                        static_cast<std::int64_t>(remote_.size()) - 1, id)) {
        return false;
      }
      range.first = remote_[static_cast<std::size_t>(id)];
    } else {
      range.first.rank = rank_;
      if (!read_buffer(where, object, range.first.buffer)) return false;
    }
    return read_integer(where, object, "index", 0, most_chunks, range.first.index) &&
           read_integer(where, object, "size", 1, most_chunks, range.size);
  }

  static ForeignChunk chunk_of(const Range& range, int number) {
    ForeignChunk chunk = range.first;
    chunk.index += number;
    return chunk;
  }

  // The channel of a message is the place of the scratch memory that it is for.
  ForeignOperand destination(const Range& range, int number) {
    const ForeignChunk chunk = chunk_of(range, number);
    if (!packets_ || chunk.buffer != ForeignBuffer::scratch || chunk.rank == rank_) return chunk;
    filled_by_.emplace(std::pair(chunk.rank, chunk.index), rank_);
    if (filled_by_[{chunk.rank, chunk.index}] != rank_) contested_ = chunk;
    return ForeignMessage{chunk.rank, chunk.index};
  }

  // Now it is known which scratch memory peers fill: to read it is to take a message.
  bool check_packets(const Where& where) {
    if (contested_) {
      return refuse(where,
                    fmt::format("chunk {} of the scratch memory of gpu {} is filled by more "
                                "than one peer.",
                                contested_->index, contested_->rank),
                    Code::not_supported);
    }
    for (ForeignRank& rank : plan_.ranks) {
      for (auto& thread : rank.threads) {
        for (ForeignAction& action : thread) {
          for (ForeignOperand& operand : action.from) take_message(operand);
        }
      }
    }
    return true;
  }

  void take_message(ForeignOperand& operand) const {
    const auto* const chunk = std::get_if<ForeignChunk>(&operand);
    if (chunk == nullptr || chunk->buffer != ForeignBuffer::scratch) return;
    const auto filled = filled_by_.find({chunk->rank, chunk->index});
    if (filled != filled_by_.end()) operand = ForeignMessage{filled->second, chunk->index};
  }
  [[nodiscard]] std::int64_t last_rank() const {
    return static_cast<std::int64_t>(plan_.ranks.size()) - 1;
  }

  ForeignPlan plan_;
  bool packets_ = false;
  std::map<std::pair<int, int>, int>
      filled_by_;  // by rank and chunk of its scratch memory: the peer
  std::optional<ForeignChunk> contested_;
  // Of the gpu and the operation at hand.
  int rank_ = 0, step_ = 0;
  std::map<std::string, std::vector<int>> channels_;  // peers, by type of channel
  std::vector<ForeignChunk> remote_;                  // whose, and which buffer
};

}  // namespace

Result<ForeignPlan> read_mscclpp_json(std::string_view text, int root) {
  const auto document = plan::parse_document(text);
  if (!document) return Unexpected(document.error());
  return Reader().read(*document, root);
}

}  // namespace gyre::tool

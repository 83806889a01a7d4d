// SPDX-License-Identifier: Apache-2.0
// Runs the collectives of one communicator: chooses and prepares plans, agrees with the peers on
// what is called and which memory is mapped, and turns what went wrong into words.
//
// One thread at a time.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "core/call.h"
#include "core/exchange.h"
#include "core/failure.h"
#include "core/operations.h"
#include "core/prepared.h"
#include "engine/executor.h"
#include "engine/store_policy.h"
#include "engine/waiter.h"
#include "memory/region_allocator.h"
#include "transport/shm/endpoint.h"

namespace gyre::core {

struct CollectivesOptions {
  int rank = 0;
  int ranks = 1;
  PlanSettings plans;
  const PlanBook* book = nullptr;  // outlives the collectives; may be null
  Tuner tuner;
  transport::Shape shape;
  engine::WaitPolicy wait;
  std::int64_t timeout_s = 0;  // 0: for ever
  std::size_t cpus = 1;        // that the ranks of this host may use, together
};

// What a collective stands on; all outlive it. `endpoint` is null in a communicator of one.
struct CollectivesParts {
  Clock& clock;
  FailureState& failure;
  shm::Endpoint* endpoint;
  const RegionTable& regions;
  RegionAllocator& allocator;
  // Tells every other rank.
  std::function<void(int culprit, const Error&)> fail_everywhere;
};

class Collectives {
 public:
  Collectives(const CollectivesOptions& options, CollectivesParts parts);

  // Arguments were checked, but for whether `op` exists for `type`.
  Status all_reduce(const void* send, void* receive, std::size_t count, gyreDataType_t type,
                    gyreRedOp_t op);
  // Any other collective. Buffers that a rank does not have (Broadcast's input elsewhere
  // than at the root, ...) may be null.
  struct Request {
    plan::Collective collective;
    const void* send;
    void* receive;
    std::size_t count;  // of the buffer, or of one section
    gyreDataType_t type;
    gyreRedOp_t op = gyreSum;
    int root = -1;
  };
  Status run_request(const Request& request);
  Status barrier();

  // collectives_exchange.cpp. Sends and receives, all at once.
  Status exchange(std::span<const Message> messages);
  // Counts and displacements are in elements, by rank.
  struct Sections {
    std::span<const std::size_t> counts, displacements;
  };
  Status all_to_all_v(const void* send, const Sections& from, void* receive, const Sections& to,
                      gyreDataType_t type);
  Status all_gather_v(const void* send, void* receive, const Sections& to, gyreDataType_t type);
  // The sections of `send` follow one another.
  Status reduce_scatter_v(const void* send, void* receive, std::span<const std::size_t> counts,
                          gyreDataType_t type, gyreRedOp_t op);

  [[nodiscard]] Operations& operations() { return operations_; }
  // What choices go by from here on, the same on all ranks; nothing: rules alone. Calls made before are
  // not counted in messages.
  void set_costs(const std::optional<plan::LinkCosts>& costs);

  // After an operation was removed: nothing prepared may refer to it.
  void forget_prepared();
  // Of the newest collective; "" before the first.
  [[nodiscard]] const char* last_plan() const { return last_plan_; }

  // The communicator has failed: from any thread. If no operation is at the peers' memory, says so.
  void note_failure();

 private:
  // The mapped memory behind the buffers of one rank in one call: what the ranks tell each other
  // before a large operation.
  struct Entry {
    transport::RemoteSlice send, receive;  // region 0: not mapped, stage
    std::uint32_t head = 0, tail = 0;      // bytes at the ends that are not mapped
    bool in_place = false;
  };
  static_assert(sizeof(Entry) <= 56);  // one line

  Status run_request(const Request& request, Prepared& plan);
  Status run_messages(plan::Collective kind, std::span<const Message> messages);
  Status exchange_sections(const Call& call, std::span<const Message> messages);
  Result<Prepared*> prepare(const PrepareKey& key);
  Status begin(const Call& call, const EncodedCall& encoded);
  Status run(Prepared& prepared, const engine::Operands& operands);
  Status run_staged(Prepared& prepared, engine::Operands& operands);
  Status run_aside(Prepared& prepared, const engine::Operands& operands);
  void use_few_slots(bool few);
  Status run_large(Prepared& staged, engine::Operands& operands);
  Status run_direct(const Prepared& staged, const engine::Operands& operands);
  Status run_edges_and_middle(const Prepared& staged, const engine::Operands& operands,
                              std::size_t head, std::size_t tail);
  Status run_edge(const PrepareKey& whole, const engine::Operands& operands, std::size_t first,
                  std::size_t count);
  Status run_in_peers_memory(const Prepared& staged, const engine::Operands& operands);
  [[nodiscard]] static bool reaches_input(const Prepared& plan, int rank);
  [[nodiscard]] static bool reaches_output(const Prepared& plan, int rank);
  [[nodiscard]] static bool is_mapped(const Prepared& plan, int rank, const Entry& entry);
  [[nodiscard]] bool any_in_place() const;
  [[nodiscard]] Entry describe_buffers(const Prepared& plan,
                                       const engine::Operands& operands) const;
  void announce(const Entry& entry, std::uint32_t tag);
  Status collect_entries(std::uint32_t tag);
  int take_entries(std::uint32_t tag);
  Status map_peers(const Prepared& plan, std::size_t head, std::size_t tail);

  // In the messages of the call at hand. The same call made earlier has another tag: who is a call
  // behind, because it once made another one, must not take an old message for a new one.
  [[nodiscard]] std::uint32_t tag_of(std::uint32_t signature) const {
    return signature ^ (static_cast<std::uint32_t>(sequence_) * 0x9e3779b1U);
  }
  bool find_deviant();
  [[nodiscard]] std::uint64_t first_difference(int peer) const;
  void let_others_explain() const;
  bool find_deadlock();
  // Whom the collective at hand waits for.
  [[nodiscard]] int blamed() const {
    return missing_.empty() ? executor_.blamed() : missing_.front();
  }
  [[nodiscard]] Error explain_mismatch(int peer);
  [[nodiscard]] Error explain_misfit(int peer);
  [[nodiscard]] Error explain_deadlock(int peer);
  [[nodiscard]] Error explain_timeout(int peer);
  [[nodiscard]] Error cause() const;
  // Of a call, as the user counts them.
  [[nodiscard]] std::uint64_t number_of(std::uint64_t sequence) const {
    return sequence - std::min(sequence, calls_of_our_own_);
  }
  Status fail_with(engine::Outcome outcome, int peer);
  void quiesce(const Entry& mine);
  [[nodiscard]] bool peers_let_go() const;

  // Results of at least this many bytes are stored past the caches.
  static constexpr std::size_t streaming_bytes = 4 * 1024 * 1024;
  static constexpr std::size_t most_prepared = 1024;
  static constexpr std::size_t most_edge_bytes = 64 * 1024;

  CollectivesOptions options_;
  CollectivesParts parts_;
  Operations operations_;
  std::span<transport::Connection* const> connections_;
  std::vector<int> peers_;  // all ranks but this one
  engine::Executor executor_;
  engine::Waiter waiter_;
  engine::StorePolicy store_policy_;
  Exchange exchange_;
  engine::StorePolicy message_policy_;  // store_policy_ of messages
  bool uses_few_slots_ = false;
  bool exchanging_ = false;        // exchange_ is on its way
  std::vector<Message> messages_;  // of the call at hand; kept for its memory
  std::unordered_map<PrepareKey, std::unique_ptr<Prepared>, PrepareKeyHash> prepared_;
  Prepared* newest_ = nullptr;
  std::uint64_t sequence_ = 0;
  std::uint64_t calls_of_our_own_ = 0;  // the first ones
  std::optional<plan::LinkCosts> costs_;
  Call current_;
  // Calls that this rank made, by number modulo the size: a root may run far ahead of the others, who
  // are then found to have made another call long ago.
  std::vector<EncodedCall> history_ = std::vector<EncodedCall>(1024);
  int deviant_ = -1;  // a rank that was found to make another call than this one
  int waits_for_us_ =
      -1;  // a rank that was found to wait for a message of this one, which waits for it
  const char* last_plan_ = "";

  std::vector<Entry> entries_;  // by rank
  std::vector<int> missing_;    // ranks whose entry is not there yet
  std::vector<std::byte*> peer_inputs_, peer_outputs_;
  // 1 while a direct operation of this rank may be at its peers' memory.
  std::atomic<std::uint32_t> in_direct_{0};
};

}  // namespace gyre::core

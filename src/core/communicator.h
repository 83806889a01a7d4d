// SPDX-License-Identifier: Apache-2.0
// A set of ranks that do collectives together, as one of them sees it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "bootstrap/control_channel.h"
#include "core/collectives.h"
#include "core/failure.h"
#include "core/rank_card.h"
#include "core/stream.h"
#include "topology/host_identity.h"
#include "transport/shm/endpoint.h"

namespace gyre::core {

class Process;

struct CommunicatorOptions {
  bootstrap::UniqueId id;
  int rank = 0;
  int ranks = 1;
  std::chrono::seconds init_timeout{120};
  std::int64_t timeout_s = 0;
  std::string name;
  std::string plan_file;  // as GYRE_PLAN_FILE
};

class Communicator {
 public:
  // Collective. Joins the ranks that `options.id` names.
  static Result<std::unique_ptr<Communicator>> connect(Process& process,
                                                       const CommunicatorOptions& options);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const { return options_.rank; }
  [[nodiscard]] int ranks() const { return options_.ranks; }
  [[nodiscard]] const CommunicatorOptions& options() const { return options_; }
  [[nodiscard]] const RankCard& card(int rank) const {
    return cards_[static_cast<std::size_t>(rank)];
  }
  // "self", or the name of the transport that reaches `rank`.
  [[nodiscard]] std::string_view transport_to(int rank) const {
    return rank == options_.rank
               ? "self"
               : endpoint_->connections()[static_cast<std::size_t>(rank)]->capabilities().name;
  }
  [[nodiscard]] Collectives& collectives() { return *collectives_; }
  [[nodiscard]] const FailureState& failure() const { return *failure_; }

  // Collective: waits until every rank is here.
  Status finalize();
  // From any thread, also while a call is blocked: that call returns Code::aborted.
  void abort();

  // Operations of this communicator that streams have yet to finish. They run on their stream's
  // thread without entering the communicator again; nobody else does anything with it meanwhile.
  [[nodiscard]] bool has_queued() const {
    // acquire: pairs with the release in end_queued: what the operations did is visible.
    return queued_.load(std::memory_order_acquire) != 0;
  }
  void wait_for_queued();
  // Queues `operation` on `stream`, behind what other streams do with this communicator.
  void enqueue(const std::shared_ptr<Stream>& stream,
               std::function<Status(Communicator&)> operation);

  // Memory that the user registered with this communicator: start and size, by ticket.
  struct Registration {
    void* buffer = nullptr;
    std::size_t bytes = 0;
    bool shared_in_place = false;
  };
  Result<std::uint64_t> add_registration(void* buffer, std::size_t bytes, bool share_in_place);
  Status remove_registration(std::uint64_t ticket);

 private:
  void end_queued();
  Communicator(Process& process, const CommunicatorOptions& options);

  Status join();
  Status read_cards();
  Status check_one_host() const;
  Status share_plans();
  Status open_shared_memory(const std::vector<std::string>& addresses);
  void make_collectives();
  void fail_everywhere(int culprit, const Error& error);
  void note_failure(const bootstrap::Failure& failure);
  [[nodiscard]] net::Deadline deadline() const { return deadline_; }

  Process& process_;
  CommunicatorOptions options_;
  net::Deadline deadline_;  // of the connection phase
  std::shared_ptr<FailureState> failure_;
  std::vector<RankCard> cards_;
  PlanBook book_;
  // Destroyed from the last to the first: nobody calls back into what is gone.
  std::unique_ptr<shm::Endpoint> endpoint_;
  std::unique_ptr<Collectives> collectives_;
  std::unique_ptr<bootstrap::ControlChannel> control_;
  std::map<std::uint64_t, Registration> registrations_;
  std::uint64_t next_registration_ = 1;
  bool finalized_ = false;

  std::mutex queue_mutex_;
  std::condition_variable queue_empty_;
  std::atomic<std::uint32_t> queued_{0};  // changed under queue_mutex_
  const Stream* queued_on_ = nullptr;     // the stream of what is queued
};

}  // namespace gyre::core

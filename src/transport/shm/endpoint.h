// SPDX-License-Identifier: Apache-2.0
// One rank's place among the ranks of its host: its own segment, its views of the others', a
// connection to each of them, and what ranks tell each other beside data: what they are calling,
// and that they have let go.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "memory/shared_segment.h"
#include "transport/shm/connection.h"
#include "transport/shm/doorbell.h"
#include "transport/shm/fd_client.h"
#include "transport/shm/fd_server.h"
#include "transport/shm/layout.h"

namespace gyre::shm {

struct EndpointOptions {
  int rank = 0;
  transport::Shape shape;
  std::vector<std::string> addresses;  // of the ranks' FdServers, by rank
  net::Credentials credentials;        // of this rank, for Purpose::transport
  std::function<bool()> interrupted;   // ends a blocking fetch
};

class Endpoint {
 public:
  using CallWords = std::array<std::uint64_t, 4>;

  // Creates this rank's segment and offers it to the others. `server` outlives the endpoint.
  static Result<std::unique_ptr<Endpoint>> create(FdServer& server, EndpointOptions options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Maps the others' segments. All ranks have returned from create() before.
  Status connect(std::chrono::steady_clock::time_point deadline);

  [[nodiscard]] ShmDoorbell& doorbell() { return doorbell_; }
  // By rank; null for this rank.
  [[nodiscard]] std::span<transport::Connection* const> connections() const { return links_; }
  [[nodiscard]] std::size_t segment_bytes() const { return segment_->bytes(); }

  // What this rank calls, numbered from 1.
  void publish_call(std::uint64_t sequence, const CallWords& words) {
    write_record(own_.calls[sequence % call_records], sequence, words);
  }
  // What this rank sends to `receiver` outside of plans, numbered from 1.
  void publish_send(int receiver, std::uint64_t number, const CallWords& words) {
    write_record(
        *reinterpret_cast<CallRecord*>(segment_->data() + layout_.send_record(receiver, number)),
        number, words);
  }
  // What `peer` called as number `sequence`; nothing if it has not come there yet.
  [[nodiscard]] std::optional<CallWords> call_of(int peer, std::uint64_t sequence) const;

  // What `peer` sent to this rank as number `number`; nothing if it has not come there yet.
  [[nodiscard]] std::optional<CallWords> send_of(int peer, std::uint64_t number) const;

  // The message that this rank waits for: message `number` of `sender`.
  void publish_missed(int sender, std::uint64_t number, std::uint64_t kind, std::uint64_t count) {
    write_record(own_.missed, ++missed_, {static_cast<std::uint64_t>(sender), number, kind, count});
  }
  // The newest that `peer` has published so; nothing if it never did.
  [[nodiscard]] std::optional<CallWords> missed_by(int peer) const;

  // The number of the newest call of `peer`, as far as it can be seen.
  [[nodiscard]] std::uint64_t newest_call_of(int peer) const;

  // This rank has failed and touches no peer's memory any more.
  void set_quiesced();
  [[nodiscard]] bool is_quiesced(int peer) const;

 private:
  Endpoint(FdServer& server, EndpointOptions options, std::shared_ptr<SharedSegment> segment);

  static void write_record(CallRecord& record, std::uint64_t number, const CallWords& words) {
    // The usual seqlock: readers that see 0, or another number before and after, read nothing.
    record.sequence.store(0, std::memory_order_relaxed);
    for (std::size_t i = 0; i < words.size(); ++i) {
      // release: no word becomes visible before the 0.
      record.words[i].store(words[i], std::memory_order_release);
    }
    // release: whoever reads the number reads these words.
    record.sequence.store(number, std::memory_order_release);
  }
  [[nodiscard]] const SegmentHeader& header(int peer) const;
  [[nodiscard]] FetchRequest request(int peer, ObjectName name,
                                     std::chrono::steady_clock::time_point deadline) const;
  Result<MappedRegion> import_region(int peer, std::uint64_t id);

  FdServer& server_;
  EndpointOptions options_;
  Layout layout_;
  std::shared_ptr<SharedSegment> segment_;
  SegmentHeader& own_;
  ShmDoorbell doorbell_;
  std::vector<PeerMapping> segments_;  // by rank
  std::vector<std::unique_ptr<ShmConnection>> connections_;
  std::vector<transport::Connection*> links_;
  std::vector<PeerMapping> imported_;
  std::uint64_t missed_ = 0;
};

}  // namespace gyre::shm

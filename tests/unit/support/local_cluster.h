// SPDX-License-Identifier: Apache-2.0
// Ranks of one communicator inside one process: their segments, connections and doorbells, without
// any bootstrap. One mapping of each segment, so that a thread sanitizer sees both ends.
#pragma once

#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "memory/shared_segment.h"
#include "transport/shm/connection.h"
#include "transport/shm/doorbell.h"

namespace gyre::test {

// body(rank) on a thread of its own for each rank; returns when all have ended.
inline void on_each_rank(int ranks, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back(body, rank);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

class LocalCluster {
 public:
  using ImportRegion = std::function<Result<shm::MappedRegion>(int owner, std::uint64_t id)>;

  // `messages_before`: as if so many messages had gone over each connection already.
  LocalCluster(int ranks, const transport::Shape& shape, std::uint64_t messages_before = 0,
               Fork fork = Fork::exclude, ImportRegion import = nothing_to_import)
      : layout_(ranks, shape) {
    for (int rank = 0; rank < ranks; ++rank) {
      segments_.push_back(
          SharedSegment::create(layout_.segment_bytes(), "gyre-test", fork).value());
      headers_.push_back(new (segments_.back().data()) shm::SegmentHeader{});
      doorbells_.push_back(std::make_unique<shm::ShmDoorbell>(*headers_.back()));
    }
    for (int rank = 0; rank < ranks; ++rank) {
      auto& row = links_.emplace_back();
      for (int peer = 0; peer < ranks; ++peer) {
        row.push_back(rank == peer ? nullptr : connect(rank, peer, messages_before, import));
      }
    }
  }

  [[nodiscard]] int ranks() const { return static_cast<int>(segments_.size()); }
  [[nodiscard]] const transport::Shape& shape() const { return layout_.shape(); }
  // As seen by `rank`: by peer, null for itself.
  [[nodiscard]] std::span<transport::Connection* const> connections(int rank) const {
    return links_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] transport::Connection& connection(int rank, int peer) const {
    return *connections(rank)[static_cast<std::size_t>(peer)];
  }
  [[nodiscard]] shm::ShmDoorbell& doorbell(int rank) const {
    return *doorbells_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] shm::SegmentHeader& header(int rank) const {
    return *headers_[static_cast<std::size_t>(rank)];
  }

 private:
  static Result<shm::MappedRegion> nothing_to_import(int /*owner*/, std::uint64_t /*id*/) {
    return fail(Code::internal_error, "this test has no regions");
  }

  transport::Connection* connect(int rank, int peer, std::uint64_t messages_before,
                                 const ImportRegion& import) {
    connections_.push_back(std::make_unique<shm::ShmConnection>(
        layout_, segments_[static_cast<std::size_t>(rank)].data(), rank,
        segments_[static_cast<std::size_t>(peer)].data(), peer,
        [import, peer](std::uint64_t id) { return import(peer, id); }, messages_before));
    return connections_.back().get();
  }

  shm::Layout layout_;
  std::vector<SharedSegment> segments_;
  std::vector<shm::SegmentHeader*> headers_;
  std::vector<std::unique_ptr<shm::ShmDoorbell>> doorbells_;
  std::vector<std::unique_ptr<shm::ShmConnection>> connections_;
  std::vector<std::vector<transport::Connection*>> links_;
};

}  // namespace gyre::test

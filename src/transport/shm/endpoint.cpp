// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/endpoint.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/core.h>

namespace gyre::shm {
namespace {

// The id under which a rank offers its segment; a communicator has one of each rank.
constexpr std::uint64_t segment_id = 0;

// Fetching a region that a peer named in a running operation: it is there, so this is quick or
// something is wrong.
constexpr std::chrono::seconds import_time{10};

std::optional<Endpoint::CallWords> read_record(const CallRecord& record, std::uint64_t number) {
  // acquire: pairs with the last store of write_record.
  if (record.sequence.load(std::memory_order_acquire) != number) {
    return std::nullopt;
  }
  Endpoint::CallWords words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    // acquire: the word is read before the number is looked at again.
    words[i] = record.words[i].load(std::memory_order_acquire);
  }
  if (record.sequence.load(std::memory_order_relaxed) != number) {
    return std::nullopt;
  }
  return words;
}

}  // namespace

Result<std::unique_ptr<Endpoint>> Endpoint::create(FdServer& server, EndpointOptions options) {
  const Layout layout(static_cast<int>(options.addresses.size()), options.shape);
  auto segment = SharedSegment::create(layout.segment_bytes(), "gyre-segment");
  if (!segment) {
    return Unexpected(std::move(segment).error());
  }
  auto shared = std::make_shared<SharedSegment>(std::move(*segment));
  const int rank = options.rank;
  const std::uint64_t epoch = options.credentials.epoch;
  GYRE_TRY(server.join(options.credentials));
  std::unique_ptr<Endpoint> endpoint(new Endpoint(server, std::move(options), shared));
  GYRE_TRY(server.offer(epoch, rank, segment_id, shared));
  return endpoint;
}

// The segment is zeroed, which is what every word in it starts from; placing the header makes its
// atomics exist for the language.
Endpoint::Endpoint(FdServer& server, EndpointOptions options,
                   std::shared_ptr<SharedSegment> segment)
    : server_(server),
      options_(std::move(options)),
      layout_(static_cast<int>(options_.addresses.size()), options_.shape),
      segment_(std::move(segment)),
      own_(*new (segment_->data()) SegmentHeader{}),
      doorbell_(own_) {}

Endpoint::~Endpoint() {
  server_.leave(options_.credentials.epoch, options_.rank);
}

Status Endpoint::connect(std::chrono::steady_clock::time_point deadline) {
  const auto ranks = options_.addresses.size();
  segments_.resize(ranks);
  connections_.resize(ranks);
  links_.assign(ranks, nullptr);
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    if (static_cast<int>(peer) == options_.rank) {
      continue;
    }
    auto mapping = fetch_mapping(
        server_, request(static_cast<int>(peer), {ObjectKind::segment, segment_id}, deadline),
        segment_->bytes(), Access::read_write);
    if (!mapping) {
      return Unexpected(std::move(mapping).error());
    }
    segments_[peer] = std::move(*mapping);
    connections_[peer] = std::make_unique<ShmConnection>(
        layout_, segment_->data(), options_.rank, segments_[peer].data(), static_cast<int>(peer),
        [this, peer](std::uint64_t id) { return import_region(static_cast<int>(peer), id); });
    links_[peer] = connections_[peer].get();
  }
  return {};
}

FetchRequest Endpoint::request(int peer, ObjectName name,
                               std::chrono::steady_clock::time_point deadline) const {
  return {.address = options_.addresses[static_cast<std::size_t>(peer)],
          .mine = options_.credentials,
          .owner = peer,
          .name = name,
          .deadline = deadline,
          .interrupted = options_.interrupted};
}

Result<MappedRegion> Endpoint::import_region(int peer, std::uint64_t id) {
  auto mapping = fetch_mapping(
      server_,
      request(peer, {ObjectKind::region, id}, std::chrono::steady_clock::now() + import_time), 0,
      Access::read_write);
  if (!mapping) {
    return Unexpected(std::move(mapping).error());
  }
  imported_.push_back(std::move(*mapping));
  return MappedRegion{imported_.back().data(), imported_.back().bytes()};
}

const SegmentHeader& Endpoint::header(int peer) const {
  return *reinterpret_cast<const SegmentHeader*>(segments_[static_cast<std::size_t>(peer)].data());
}

std::optional<Endpoint::CallWords> Endpoint::call_of(int peer, std::uint64_t sequence) const {
  return read_record(header(peer).calls[sequence % call_records], sequence);
}

std::optional<Endpoint::CallWords> Endpoint::send_of(int peer, std::uint64_t number) const {
  const std::byte* const segment = segments_[static_cast<std::size_t>(peer)].data();
  return read_record(
      *reinterpret_cast<const CallRecord*>(segment + layout_.send_record(options_.rank, number)),
      number);
}

std::optional<Endpoint::CallWords> Endpoint::missed_by(int peer) const {
  const CallRecord& record = header(peer).missed;
  // relaxed: read_record looks at the number again.
  const std::uint64_t number = record.sequence.load(std::memory_order_relaxed);
  return number == 0 ? std::nullopt : read_record(record, number);
}

std::uint64_t Endpoint::newest_call_of(int peer) const {
  std::uint64_t newest = 0;
  for (const CallRecord& record : header(peer).calls) {
    // relaxed: only the number is looked at.
    newest = std::max(newest, record.sequence.load(std::memory_order_relaxed));
  }
  return newest;
}

// release and acquire: our last access to the peers' memory comes before they take it back.
void Endpoint::set_quiesced() {
  own_.quiesced.store(1, std::memory_order_release);
}

bool Endpoint::is_quiesced(int peer) const {
  return header(peer).quiesced.load(std::memory_order_acquire) != 0;
}

}  // namespace gyre::shm

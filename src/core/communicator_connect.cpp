// SPDX-License-Identifier: Apache-2.0
// How a communicator comes to be: control channel, cards, shared memory, collectives.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "base/log.h"
#include "collectives/chooser.h"
#include "core/calibration.h"
#include "core/communicator.h"
#include "core/cost_file.h"
#include "core/process.h"
#include "gyre/gyre.h"

namespace gyre::core {
namespace {

// How much memory one rank's segment may take. Many ranks get fewer and smaller slots rather than
// gigabytes of them.
constexpr std::size_t segment_budget = 32 * 1024 * 1024;

void make_smaller(transport::Shape& shape) {
  constexpr std::size_t smallest_slot = 16 * 1024;
  if (shape.slot_bytes > smallest_slot) {
    shape.slot_bytes /= 2;
  } else if (shape.small_slots > 2) {
    shape.small_slots /= 2;
  } else {
    shape.slot_bytes /= 2;
    shape.small_slot_bytes /= 2;
  }
}

transport::Shape shape_for(int ranks, const PlanSettings& plans, std::int64_t slots) {
  constexpr plan::ChoiceLimits limits;
  transport::Shape shape{
      .channels = limits.channels,
      .slots = limits.slots,
      .slot_bytes = limits.slot,
      .inline_bytes = limits.inline_bytes,
      .small_channels = 1,
      .small_slots = ranks == 2 ? limits.pair_exchange_slots : limits.exchange_slots,
      .small_slot_bytes = limits.exchange_slot,
      .line_channels = 1};
  if (plans.channels > 0) {
    shape.channels = static_cast<int>(plans.channels);
  }
  if (slots > 0) {
    shape.slots = std::max(static_cast<int>(slots), 2);  // a ring deadlocks with one
  }
  if (plans.chunk_bytes > 0) {
    shape.slot_bytes = shm::round_up(static_cast<std::size_t>(plans.chunk_bytes), 64);
  }
  while (shm::Layout(ranks, shape).segment_bytes() > segment_budget && shape.slot_bytes > 1024) {
    make_smaller(shape);
  }
  return shape;
}

// The CPUs of all cards together.
std::size_t cpus_of(const std::vector<RankCard>& cards) {
  std::set<std::string> lists;
  for (const RankCard& card : cards) {
    lists.insert(card.host.cpus);
  }
  std::string all;
  for (const std::string& list : lists) {
    all += (all.empty() ? "" : ",") + list;
  }
  return std::max<std::size_t>(topology::count_cpus(all), 1);
}

engine::WaitPolicy wait_policy(const Settings& settings, std::size_t cpus, int ranks) {
  engine::WaitPolicy policy = cpus < static_cast<std::size_t>(ranks)
                                  ? engine::WaitPolicy::shared_processors()
                                  : engine::WaitPolicy{};
  if (settings.spin_us >= 0) {
    policy.spin_ns = settings.spin_us * 1000;
  }
  if (settings.yield_us >= 0) {
    policy.yield_ns = settings.yield_us * 1000;
  }
  return policy;
}

// Whether there is anything to choose by costs: between two ranks all algorithms do the same.
bool chooses_by_costs(const PlanSettings& plans, int ranks) {
  return ranks > 2 && plans.algorithm.empty() && plans.protocol.empty() && plans.chunk_bytes == 0 &&
         plans.channels == 0;
}

// What rank 0 knows from earlier jobs; the others need not.
std::optional<plan::LinkCosts> known_costs(const Settings& settings,
                                           const CommunicatorOptions& options,
                                           const topology::HostIdentity& host) {
  if (options.rank != 0 || options.ranks <= 2 || settings.cost_file == "none") {
    return std::nullopt;
  }
  const std::string path = cost_path(settings.cost_file);
  return path.empty() ? std::nullopt
                      : read_costs(path, cost_key(options.ranks, topology::count_cpus(host.cpus)));
}

void keep_costs(const Settings& settings, int ranks, const topology::HostIdentity& host,
                const plan::LinkCosts& costs, bool plausible) {
  const std::string path = cost_path(settings.cost_file);
  const std::string key = cost_key(ranks, topology::count_cpus(host.cpus));
  log::info(log::Subsystem::tuning,
            "measured for {}: an exchange among all takes {:.2f} us, a message {:.3f} us, a byte "
            "{:.3f} ns, {:.3f} ns in large calls{}",
            key, costs.exchange * 1e6, costs.message * 1e6, costs.per_byte * 1e9,
            costs.per_byte_large * 1e9,
            plausible ? "" : ". The machine was busy: that is not used");
  const Status written = path.empty() || !plausible ? Status() : write_costs(path, key, costs);
  if (!written) {
    log::info(log::Subsystem::tuning, "{} They are measured again in every job.",
              written.error().message);
  }
}

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::connect(Process& process,
                                                            const CommunicatorOptions& options) {
  std::unique_ptr<Communicator> communicator(new Communicator(process, options));
  if (const Status joined = communicator->join(); !joined) {
    // Whoever waits for us learns why we will not come.
    if (communicator->control_) {
      communicator->fail_everywhere(options.rank, joined.error());
    }
    return Unexpected(joined.error());
  }
  return communicator;
}

Status Communicator::join() {
  const Settings& settings = process_.settings();
  RankCard mine{.host = topology::read_host_identity(settings.host_id),
                .fd_server = {},
                .plans = {settings.algorithm, settings.protocol, settings.chunk_bytes,
                          settings.channels, options_.plan_file, settings.reproducible != 0},
                .slots = settings.slots,
                .chooses_by_costs = settings.cost_file != "none",
                .costs = {}};
  mine.costs = known_costs(settings, options_, mine.host);
  if (options_.ranks == 1) {
    cards_.push_back(std::move(mine));
    make_collectives();
    return {};
  }
  const auto server = process_.fd_server();
  if (!server) {
    return Unexpected(server.error());
  }
  mine.fd_server = (*server)->address();
  auto control = bootstrap::ControlChannel::connect(
      process_.loop(),
      {.id = options_.id,
       .rank = options_.rank,
       .size = options_.ranks,
       .deadline = deadline_,
       .init_timeout = options_.init_timeout,
       .card = serialise(mine),
       .network = process_.network(),
       .library_version = GYRE_VERSION_CODE,
       .on_failure = [this](const bootstrap::Failure& failure) { note_failure(failure); }});
  if (!control) {
    return Unexpected(std::move(control).error());
  }
  control_ = std::move(*control);
  GYRE_TRY(read_cards());
  GYRE_TRY(check_one_host());
  GYRE_TRY(share_plans());
  std::vector<std::string> addresses;
  for (const RankCard& card : cards_) {
    addresses.push_back(card.fd_server);
  }
  GYRE_TRY(open_shared_memory(addresses));
  make_collectives();
  failure_->set_waker([this] {
    collectives_->note_failure();
    endpoint_->doorbell().ring();
  });
  // Nobody starts before everybody can be written to.
  GYRE_TRY(control_->barrier(deadline_));
  return learn_costs();
}

Status Communicator::read_cards() {
  for (const net::Bytes& bytes : control_->cards()) {
    auto card = parse_rank_card(bytes);
    if (!card) {
      return Unexpected(std::move(card).error());
    }
    cards_.push_back(std::move(*card));
  }
  if (cards_[static_cast<std::size_t>(options_.rank)].plans != cards_.front().plans) {
    log::warn(log::Subsystem::env,
              "GYRE_ALGO, GYRE_PROTO, GYRE_CHUNK, GYRE_CHANNELS, GYRE_PLAN_FILE or "
              "GYRE_REPRODUCIBLE differ between rank 0 and rank {}: the values of rank 0 are used "
              "on all ranks.",
              options_.rank);
  }
  return {};
}

Status Communicator::check_one_host() const {
  const RankCard& mine = cards_[static_cast<std::size_t>(options_.rank)];
  for (std::size_t rank = 0; rank < cards_.size(); ++rank) {
    if (!topology::can_share_memory(mine.host, cards_[rank].host)) {
      return fail(
          Code::not_supported,
          fmt::format("rank {} on {} and rank {} on {} cannot share memory: {} This version "
                      "of Gyre has no network transport yet: all ranks must run on one host.",
                      options_.rank, mine.host.host_name, rank, cards_[rank].host.host_name,
                      topology::why_not_shared(mine.host, cards_[rank].host)));
    }
  }
  return {};
}

// Rank 0 reads the user's plans and proves them right; the others run what it hands to them, and need
// not have the files.
Status Communicator::share_plans() {
  const RankCard& first = cards_.front();
  if (first.plans.plan_file.empty()) {
    return {};
  }
  net::Bytes mine;
  if (options_.rank == 0) {
    auto plans = gather_user_plans(first.plans.plan_file, options_.ranks,
                                   shape_for(options_.ranks, first.plans, first.slots));
    if (!plans) {
      return Unexpected(std::move(plans).error());
    }
    mine = std::move(*plans);
  }
  const auto all = control_->all_gather(mine, deadline_);
  if (!all) {
    return Unexpected(all.error());
  }
  auto book = parse_user_plans(all->front(), options_.rank);
  if (!book) {
    return Unexpected(std::move(book).error());
  }
  book_ = std::move(*book);
  return {};
}

Status Communicator::open_shared_memory(const std::vector<std::string>& addresses) {
  const RankCard& first = cards_.front();
  auto endpoint = shm::Endpoint::create(
      **process_.fd_server(), {.rank = options_.rank,
                               .shape = shape_for(options_.ranks, first.plans, first.slots),
                               .addresses = addresses,
                               .credentials = {.secret = options_.id.secret,
                                               .epoch = options_.id.epoch,
                                               .purpose = net::Purpose::transport,
                                               .rank = static_cast<std::uint32_t>(options_.rank),
                                               .library_version = GYRE_VERSION_CODE},
                               .interrupted = [failure = failure_] { return failure->failed(); }});
  if (!endpoint) {
    return Unexpected(std::move(endpoint).error());
  }
  endpoint_ = std::move(*endpoint);
  // All segments exist before the first is asked for.
  GYRE_TRY(control_->barrier(deadline_));
  const Status connected = endpoint_->connect(deadline_);
  if (!connected && connected.error().code == Code::aborted) {
    const auto cause = failure_->cause();
    return Unexpected(cause ? cause->error : connected.error());
  }
  return connected;
}

void Communicator::make_collectives() {
  const std::size_t cpus = cpus_of(cards_);
  const RankCard& first = cards_.front();
  collectives_ = std::make_unique<Collectives>(
      CollectivesOptions{.rank = options_.rank,
                         .ranks = options_.ranks,
                         .plans = first.plans,
                         .book = &book_,
                         .tuner = options_.tuner,
                         .shape = shape_for(options_.ranks, first.plans, first.slots),
                         .wait = wait_policy(process_.settings(), cpus, options_.ranks),
                         .timeout_s = options_.timeout_s,
                         .cpus = cpus},
      CollectivesParts{.clock = process_.clock(),
                       .failure = *failure_,
                       .endpoint = endpoint_.get(),
                       .regions = process_.regions(),
                       .allocator = process_.allocator(),
                       .fail_everywhere = [this](int culprit, const Error& error) {
                         fail_everywhere(culprit, error);
                       }});
  log::info(log::Subsystem::init,
            "rank {} of {} on {}: {} ranks on {} CPUs, {} bytes of shared segment", options_.rank,
            options_.ranks, cards_[static_cast<std::size_t>(options_.rank)].host.host_name,
            options_.ranks, cpus, endpoint_ ? endpoint_->segment_bytes() : 0);
}

// Rank 0's costs hold on all ranks: known from an earlier job, or measured now and kept.
Status Communicator::learn_costs() {
  const Settings& settings = process_.settings();
  const RankCard& first = cards_.front();
  if (!first.chooses_by_costs || !chooses_by_costs(first.plans, options_.ranks)) {
    return {};
  }
  std::optional<plan::LinkCosts> costs = first.costs;
  if (!costs) {
    const std::size_t cpus = cpus_of(cards_);
    const auto measured =
        measure_costs(*collectives_, process_.clock(), {.ranks = options_.ranks, .cpus = cpus});
    if (!measured) {
      return Unexpected(measured.error());
    }
    net::ByteWriter writer;
    write_link_costs(writer, *measured);
    const auto all = control_->all_gather(writer.take(), deadline_);
    if (!all) {
      return Unexpected(all.error());
    }
    net::ByteReader reader(all->front());
    costs = read_link_costs(reader);
    const bool plausible = are_plausible(*costs, {.ranks = options_.ranks, .cpus = cpus});
    if (options_.rank == 0) {
      keep_costs(settings, options_.ranks, first.host, *costs, plausible);
    }
    if (!plausible) {
      costs.reset();
    }
  }
  collectives_->set_costs(costs);
  return {};
}

}  // namespace gyre::core

// SPDX-License-Identifier: Apache-2.0
// How a rank joins: check in at the root, learn whom to dial, link up with the neighbours.
#include <poll.h>

#include <fmt/format.h>

#include "base/log.h"
#include "bootstrap/control_core.h"
#include "bootstrap/overlay.h"

namespace gyre::bootstrap {
namespace {

// The root ends the wait at our deadline and says why; this long its word may take to get here.
constexpr auto answer_grace = std::chrono::seconds(2);

Status judge(const ControlOptions& options) {
  if (options.size < 1 || options.size > max_ranks) {
    return gyre::fail(Code::invalid_argument,
                      fmt::format("nranks = {}: it must be 1 to {}.", options.size, max_ranks));
  }
  if (options.rank < 0 || options.rank >= options.size) {
    return gyre::fail(Code::invalid_argument,
                      fmt::format("rank = {} is out of range: nranks is {}, so ranks are 0 to {}.",
                                  options.rank, options.size, options.size - 1));
  }
  if (options.card.size() > max_card_bytes) {
    return gyre::fail(Code::internal_error, "The card of this rank is too long.");
  }
  return {};
}

}  // namespace

Status ControlChannel::Core::join() {
  GYRE_TRY(judge(options_));
  if (options_.size == 1 && !options_.id.root.valid()) {
    cards_.push_back(options_.card);
    return {};
  }
  GYRE_TRY(join_root());
  Result<std::vector<Bytes>> cards =
      exchange(GatherStep::Kind::all_gather, options_.card, options_.deadline);
  if (!cards) {
    return Unexpected(cards.error());
  }
  cards_ = std::move(*cards);
  return {};
}

net::Credentials ControlChannel::Core::credentials(net::Purpose purpose) const {
  return {options_.id.secret, options_.id.epoch, purpose, static_cast<std::uint32_t>(options_.rank),
          options_.library_version};
}

Status ControlChannel::Core::join_root() {
  Result<UniqueFd> root = net::dial(options_.id.root, credentials(net::Purpose::check_in),
                                    net::root_rank, options_.deadline);
  if (!root) {
    return gyre::fail(root.error().code,
                      fmt::format("Rank {} could not reach the root of its communicator. {} The "
                                  "root lives in the process that made the unique id.",
                                  options_.rank, root.error().message));
  }
  GYRE_TRY(listen_for_neighbours(root->get()));
  const Result<Welcome> welcome = check_in(root->get());
  if (!welcome) {
    return Unexpected(welcome.error());
  }
  root->reset();
  return build_overlay(*welcome);
}

// Unless the user chose an interface, the way to the root is the way to the others: the kernel's
// routing has chosen that address already. In particular it is a loopback address only when the
// root's is, so when all ranks are on this host.
Status ControlChannel::Core::listen_for_neighbours(int root_fd) {
  const net::InterfaceFilter& filter = options_.network.interfaces;
  const bool chosen_by_user = !filter.names.empty() || !filter.family.empty();
  const Result<net::Address> address =
      chosen_by_user ? net::choose_address(filter) : net::local_address(root_fd);
  if (!address) {
    return Unexpected(address.error());
  }
  Result<net::Listener> listener = net::listen_on(address->with_port(0), options_.network.ports);
  if (!listener) {
    return Unexpected(listener.error());
  }
  log::info(log::Subsystem::bootstrap, "rank {} listens for its neighbours at {}{}", options_.rank,
            listener->address.to_string(),
            chosen_by_user ? "" : ", the interface that leads to the root");
  auto started =
      net::Acceptor::start(loop_, std::move(*listener), credentials(net::Purpose::overlay),
                           [weak = weak_from_this()](UniqueFd fd, const net::PeerIdentity& peer,
                                                     const net::Address& from) {
                             if (const auto self = weak.lock()) {
                               self->on_incoming(std::move(fd), peer, from);
                             }
                           });
  if (!started) {
    return Unexpected(started.error());
  }
  acceptor_ = std::move(*started);
  return {};
}

Result<Welcome> ControlChannel::Core::check_in(int root_fd) {
  CheckIn message;
  message.rank = options_.rank;
  message.size = options_.size;
  message.remaining = std::chrono::milliseconds(net::milliseconds_until(options_.deadline));
  message.timeout = std::max(options_.init_timeout, message.remaining);
  message.address = acceptor_->address();
  message.network = own_network();
  message.person = Person::self();
  const Bytes frame =
      net::encode_frame(static_cast<net::FrameType>(Message::check_in), message.encode());
  const Status sent = net::write_all(root_fd, frame, options_.deadline);
  if (!sent && sent.error().code != Code::remote_error) {
    return Unexpected(sent.error());  // else the root has closed, and may have said why
  }
  const Result<net::Frame> answer = read_answer(root_fd);
  if (!answer) {
    return Unexpected(answer.error());
  }
  if (answer->type == static_cast<net::FrameType>(Message::refusal)) {
    const auto refusal = Refusal::decode(answer->payload);
    return Unexpected(refusal ? refusal->error
                              : Error{Code::internal_error, "The root's refusal is unreadable."});
  }
  const auto welcome = Welcome::decode(answer->payload);
  if (!welcome) {
    return gyre::fail(Code::internal_error, "The root's answer is unreadable.");
  }
  return *welcome;
}

Result<net::Frame> ControlChannel::Core::read_answer(int root_fd) {
  net::FrameParser parser(limits_at_rank());
  while (true) {
    std::byte byte{};  // a rank reads one short answer in its life: simplicity over speed
    const Status read = net::read_exactly(root_fd, {&byte, 1}, options_.deadline + answer_grace);
    if (!read) {
      return gyre::fail(
          read.error().code == Code::timeout ? Code::timeout : Code::remote_error,
          fmt::format("Rank {} checked in at the root {} and got no answer before its deadline. {} "
                      "Is the process that made the unique id still alive?",
                      options_.rank, options_.id.root.to_string(), read.error().message));
    }
    GYRE_TRY(parser.feed({&byte, 1}));
    if (auto frame = parser.next()) {
      return std::move(*frame);
    }
  }
}

Status ControlChannel::Core::build_overlay(const Welcome& welcome) {
  for (const Welcome::Neighbour& neighbour : welcome.dial) {
    Result<UniqueFd> fd = net::dial(neighbour.address, credentials(net::Purpose::overlay),
                                    static_cast<std::uint32_t>(neighbour.rank), options_.deadline);
    if (const auto failed = failure()) {
      return Unexpected(failed->error());  // that the neighbour is gone is but a consequence
    }
    if (!fd) {
      return fail_with(options_.rank, fd.error().code,
                       fmt::format("Rank {} could not link up with rank {}. {} Is there a route "
                                   "and no firewall between their hosts? GYRE_SOCKET_IFNAME "
                                   "chooses the interface, GYRE_PORT_RANGE the ports.",
                                   options_.rank, neighbour.rank, fd.error().message));
    }
    attach(neighbour.rank, std::move(*fd));
  }
  GYRE_TRY(wait_for_neighbours());
  acceptor_.reset();  // nobody else has business here
  return {};
}

void ControlChannel::Core::on_incoming(UniqueFd fd, const net::PeerIdentity& peer,
                                       const net::Address& from) {
  const int number = static_cast<int>(peer.rank);
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    if (peer.rank >= static_cast<std::uint32_t>(options_.size) ||
        !overlay_dials(number, options_.rank, options_.size)) {
      why = "that rank has no link to this one";
    } else if (links_.contains(number)) {
      why = "that rank is linked already";
    } else if (peer.library_version != options_.library_version) {
      why = "it runs another version";  // which the dialling side says to its user
    }
  }
  if (!why.empty()) {
    log::info(log::Subsystem::bootstrap, "refused rank {} from {}: {}", peer.rank, from.to_string(),
              why);
    return;
  }
  attach(number, std::move(fd));
}

std::vector<int> ControlChannel::Core::unlinked() const {
  std::vector<int> ranks;
  for (const int peer : overlay_neighbours(options_.rank, options_.size)) {
    if (!links_.contains(peer)) {
      ranks.push_back(peer);
    }
  }
  return ranks;
}

Status ControlChannel::Core::wait_for_neighbours() {
  std::vector<int> absent;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, options_.deadline,
                        [this] { return failure_.has_value() || unlinked().empty(); });
    if (failure_) {
      return Unexpected(failure_->error());
    }
    absent = unlinked();
  }
  if (absent.empty()) {
    return {};
  }
  return fail_with(
      absent.front(), Code::timeout,
      fmt::format("{} did not link up with rank {} within {}, although all ranks had "
                  "checked in. Can its host reach {}, or is a firewall between?",
                  capitalised(list_ranks(absent)), options_.rank,
                  seconds_text(options_.init_timeout), acceptor_->address().to_string()));
}

}  // namespace gyre::bootstrap

// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/root.h"

#include <atomic>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/log.h"
#include "bootstrap/messages.h"
#include "bootstrap/overlay.h"
#include "net/acceptor.h"
#include "net/connection.h"

namespace gyre::bootstrap {
namespace {

using net::EventLoop;

// How long an answer may take to drain to a rank before the connection is closed anyway.
constexpr auto answer_linger = std::chrono::seconds(5);

net::Credentials credentials_of_root(const UniqueId& id, std::uint32_t library_version) {
  return {id.secret, id.epoch, net::Purpose::check_in, net::root_rank, library_version};
}

}  // namespace

// All of it belongs to the loop thread, but for the atomics and what never changes.
struct Root::State : std::enable_shared_from_this<Root::State> {
  using GuestId = std::uint64_t;
  struct Guest {  // has proven itself; checked in once `check_in` is there
    std::shared_ptr<net::Connection> connection;
    std::uint32_t claimed_rank = 0;
    std::optional<CheckIn> check_in;
  };

  State(EventLoop& loop_in, const UniqueId& id_in, std::uint32_t version)
      : loop(loop_in), id(id_in), library_version(version) {}

  Status listen(net::Listener listener);
  void close();
  void on_peer(UniqueFd fd, const net::PeerIdentity& peer);
  void on_frame(GuestId guest, const net::Frame& frame);
  void on_left(GuestId guest, const std::string& why);
  [[nodiscard]] std::optional<Error> judge(const Guest& guest, const CheckIn& check_in) const;
  void admit(GuestId guest, const CheckIn& check_in);
  void arm_deadline(const CheckIn& check_in);
  void on_deadline();
  [[nodiscard]] std::optional<Error> judge_addresses() const;
  void welcome_all();
  void refuse(GuestId guest, const Error& error);
  void fail_all(const Error& error);
  [[nodiscard]] const CheckIn& member(int rank) const {
    return *guests.at(members.at(rank)).check_in;
  }
  [[nodiscard]] std::vector<int> missing() const;

  EventLoop& loop;
  const UniqueId id;
  const std::uint32_t library_version;
  std::unique_ptr<net::Acceptor> acceptor;
  GuestId next_guest = 0;
  std::map<GuestId, Guest> guests;
  std::map<int, GuestId> members;  // by rank
  int size = 0;                    // that the first check-in named; 0: none came yet
  bool complete = false;
  std::optional<Error> failure;
  std::optional<net::Deadline> deadline;
  std::chrono::milliseconds timeout{};
  EventLoop::TimerId timer = EventLoop::TimerId::none;
  std::atomic<bool> finished{false};
};

Status Root::State::listen(net::Listener listener) {
  auto started = net::Acceptor::start(
      loop, std::move(listener), credentials_of_root(id, library_version),
      [weak = weak_from_this()](UniqueFd fd, const net::PeerIdentity& peer, const net::Address&) {
        if (const auto self = weak.lock()) {
          self->on_peer(std::move(fd), peer);
        }
      });
  if (!started) {
    return Unexpected(started.error());
  }
  acceptor = std::move(*started);
  return {};
}

void Root::State::close() {
  acceptor.reset();
  loop.cancel(timer);
  for (auto& [number, guest] : guests) {
    guest.connection->close();
  }
  guests.clear();
}

void Root::State::on_peer(UniqueFd fd, const net::PeerIdentity& peer) {
  const GuestId number = next_guest++;
  const auto weak = weak_from_this();
  net::Connection::Callbacks callbacks;
  callbacks.on_frame = [weak, number](const net::Frame& frame) {
    if (const auto self = weak.lock()) {
      self->on_frame(number, frame);
    }
  };
  callbacks.on_closed = [weak, number](const std::string& why) {
    if (const auto self = weak.lock()) {
      self->on_left(number, why);
    }
  };
  auto connection =
      net::Connection::start(loop, std::move(fd), limits_at_root(), std::move(callbacks));
  guests.emplace(number, Guest{std::move(connection), peer.rank, std::nullopt});
  if (peer.library_version != library_version && !complete) {
    fail_all(net::version_mismatch(library_version, peer.library_version,
                                   fmt::format("rank {}", peer.rank)));
  }
}

void Root::State::on_frame(GuestId number, const net::Frame& frame) {
  const auto check_in = CheckIn::decode(frame.payload);
  Guest& guest = guests.at(number);
  if (!check_in || guest.check_in) {
    refuse(number, Error{Code::internal_error, "The root could not read this rank's check-in."});
  } else if (failure) {
    refuse(number, *failure);
  } else if (complete) {
    refuse(number, Error{Code::invalid_argument,
                         fmt::format("This unique id was used already: it has made a communicator "
                                     "of {} ranks. One id makes one communicator; call "
                                     "gyreGetUniqueId for each.",
                                     size)});
  } else if (const auto error = judge(guest, *check_in)) {
    fail_all(*error);
  } else {
    admit(number, *check_in);
  }
}

// Does this check-in fit those before it?
std::optional<Error> Root::State::judge(const Guest& guest, const CheckIn& check_in) const {
  const std::string who = name_of(check_in.rank, check_in.person);
  if (size != 0 && check_in.size != size) {
    const auto& [first_rank, first] = *members.begin();
    return Error{Code::invalid_argument,
                 fmt::format("The ranks disagree on how many they are: {} joined with nranks = {}, "
                             "{} with nranks = {}.",
                             name_of(first_rank, guests.at(first).check_in->person), size, who,
                             check_in.size)};
  }
  if (check_in.size < 1 || check_in.size > max_ranks) {
    return Error{Code::invalid_argument,
                 fmt::format("{} joined with nranks = {}: it must be 1 to {}.", capitalised(who),
                             check_in.size, max_ranks)};
  }
  if (check_in.rank < 0 || check_in.rank >= check_in.size ||
      guest.claimed_rank != static_cast<std::uint32_t>(check_in.rank)) {
    return Error{Code::invalid_argument,
                 fmt::format("{} is out of range: nranks is {}, so ranks are 0 to {}.",
                             capitalised(who), check_in.size, check_in.size - 1)};
  }
  if (members.contains(check_in.rank)) {
    return Error{Code::invalid_argument,
                 fmt::format("Rank {} joined twice: {} and {}. Each process needs a rank of its "
                             "own, and each communicator a unique id of its own.",
                             check_in.rank, member(check_in.rank).person.to_string(),
                             check_in.person.to_string())};
  }
  return std::nullopt;
}

void Root::State::admit(GuestId number, const CheckIn& check_in) {
  guests.at(number).check_in = check_in;
  members.emplace(check_in.rank, number);
  size = check_in.size;
  log::info(log::Subsystem::bootstrap, "{} checked in from {}: {} of {} present",
            name_of(check_in.rank, check_in.person), check_in.address.to_string(), members.size(),
            size);
  if (static_cast<int>(members.size()) < size) {
    arm_deadline(check_in);
  } else if (const auto error = judge_addresses()) {
    fail_all(*error);
  } else {
    welcome_all();
  }
}

// The first rank to give up ends the wait of all: they could not succeed without it.
void Root::State::arm_deadline(const CheckIn& check_in) {
  const net::Deadline theirs = net::after(check_in.remaining);
  if (deadline && *deadline <= theirs) {
    return;
  }
  deadline = theirs;
  timeout = check_in.timeout;
  loop.cancel(timer);
  timer = loop.call_at(theirs, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->on_deadline();
    }
  });
}

std::vector<int> Root::State::missing() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) {
    if (!members.contains(rank)) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

void Root::State::on_deadline() {
  if (complete || failure) {
    return;
  }
  fail_all(
      Error{Code::timeout,
            fmt::format("{} did not join ({} of {} present) within {}. Did each process start, "
                        "with this unique id, and can it reach {}? A longer wait: "
                        "GYRE_INIT_TIMEOUT.",
                        capitalised(list_ranks(missing())), members.size(), size,
                        seconds_text(timeout), id.root.to_string())});
}

// A loopback address is good only while all ranks share one network namespace.
std::optional<Error> Root::State::judge_addresses() const {
  const std::string& network = member(0).network;
  bool one_network = true;
  for (int rank = 1; rank < size; ++rank) {
    one_network = one_network && member(rank).network == network;
  }
  for (int rank = 0; rank < size && !one_network; ++rank) {
    if (member(rank).address.is_loopback()) {
      return Error{Code::system_error,
                   fmt::format("{} can only be reached at the loopback address {}, but not all "
                               "ranks are on its host. Does its host have a network interface that "
                               "is up? GYRE_SOCKET_IFNAME names one.",
                               capitalised(name_of(rank, member(rank).person)),
                               member(rank).address.to_string())};
    }
  }
  return std::nullopt;
}

void Root::State::welcome_all() {
  complete = true;
  loop.cancel(timer);
  for (const auto& [rank, number] : members) {
    Welcome welcome;
    for (const int peer : overlay_neighbours(rank, size)) {
      if (overlay_dials(rank, peer, size)) {
        welcome.dial.push_back({peer, member(peer).address});
      }
    }
    const auto& connection = guests.at(number).connection;
    connection->send(static_cast<net::FrameType>(Message::welcome), welcome.encode());
    connection->close_when_sent(answer_linger);
  }
  for (const auto& [rank, number] : members) {
    guests.erase(number);
  }
  members.clear();
  finished.store(true, std::memory_order_release);  // pairs with the acquire in Root::finished
}

void Root::State::on_left(GuestId number, const std::string& why) {
  const auto found = guests.find(number);
  if (found == guests.end()) {
    return;
  }
  const std::optional<CheckIn> check_in = found->second.check_in;
  if (!check_in) {
    guests.erase(found);  // had not checked in: nobody counted on it
    return;
  }
  fail_all(Error{Code::remote_error,
                 fmt::format("{} went away before all ranks had joined ({} of {} were present): "
                             "{}. It died or gave up; look at its own output.",
                             capitalised(name_of(check_in->rank, check_in->person)), members.size(),
                             size, why)});
}

void Root::State::refuse(GuestId number, const Error& error) {
  const auto found = guests.find(number);
  found->second.connection->send(static_cast<net::FrameType>(Message::refusal),
                                 Refusal{error}.encode());
  found->second.connection->close_when_sent(answer_linger);
  guests.erase(found);
}

void Root::State::fail_all(const Error& error) {
  failure = error;
  loop.cancel(timer);
  members.clear();
  while (!guests.empty()) {
    refuse(guests.begin()->first, error);
  }
  finished.store(true, std::memory_order_release);  // as in welcome_all
}

Root::Root(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Root>> Root::create(net::EventLoop& loop, const Network& network,
                                           std::uint32_t library_version) {
  const Result<net::Address> address = net::choose_address(network.interfaces);
  if (!address) {
    return Unexpected(address.error());
  }
  Result<net::Listener> listener = net::listen_on(address->with_port(0), network.ports);
  if (!listener) {
    return Unexpected(listener.error());
  }
  const Result<UniqueId> id = UniqueId::create(listener->address);
  if (!id) {
    return Unexpected(id.error());
  }
  auto state = std::make_shared<State>(loop, *id, library_version);
  GYRE_TRY(state->listen(std::move(*listener)));
  return std::unique_ptr<Root>(new Root(std::move(state)));
}

Result<std::unique_ptr<Root>> Root::serve(net::EventLoop& loop, const UniqueId& id,
                                          std::uint32_t library_version) {
  Result<net::Listener> listener = net::listen_on(id.root);
  if (!listener) {
    // Behind address translation the name that others use is no address of ours.
    log::info(log::Subsystem::bootstrap, "{}: listening at every address of this host instead",
              listener.error().message);
    const char* any = id.root.family() == AF_INET6 ? "::" : "0.0.0.0";
    listener = net::listen_on(*net::Address::parse(any, id.root.port()));
  }
  if (!listener) {
    return Unexpected(listener.error());
  }
  auto state = std::make_shared<State>(loop, id, library_version);
  GYRE_TRY(state->listen(std::move(*listener)));
  return std::unique_ptr<Root>(new Root(std::move(state)));
}

Root::~Root() {
  state_->loop.run([this] { state_->close(); });
}

const UniqueId& Root::id() const {
  return state_->id;
}
bool Root::finished() const {
  return state_->finished.load(std::memory_order_acquire);
}
std::uint64_t Root::strangers() const {
  return state_->acceptor->strangers();
}

}  // namespace gyre::bootstrap

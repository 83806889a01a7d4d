// SPDX-License-Identifier: Apache-2.0
// torchrun gives every rank a place to meet, MASTER_ADDR:MASTER_PORT, but may listen there itself
// (its store), and gives no secret. So ranks of one host meet at an abstract Unix socket, where the
// kernel vouches for the user; ranks of several hosts need GYRE_JOB_SECRET and meet at the ports
// after MASTER_PORT.
#include <netdb.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "bootstrap/id_exchange.h"
#include "bootstrap/launch_methods.h"
#include "bootstrap/messages.h"
#include "net/interfaces.h"
#include "net/text.h"

namespace gyre::bootstrap {
namespace {

struct Torchrun {
  int rank = 0;
  int size = 1;
  int local_rank = -1;
  int local_size = -1;
  std::string master;
  int port = 0;
  std::string job;  // equal on all ranks of this start and no other
};

Result<Torchrun> read(const LaunchRequest& request) {
  const Environment& environment = request.environment;
  const Result<int> size = number_in(environment, "WORLD_SIZE", 1, max_ranks);
  if (!size) {
    return Unexpected(size.error());
  }
  const Result<int> rank = number_in(environment, "RANK", 0, *size - 1);
  if (!rank) {
    return Unexpected(rank.error());
  }
  Torchrun result;
  result.rank = *rank;
  result.size = *size;
  result.local_rank = local_rank_in(environment);
  if (environment.has("LOCAL_WORLD_SIZE")) {
    result.local_size = number_in(environment, "LOCAL_WORLD_SIZE", 1, *size).value_or(-1);
  }
  result.master = environment.get("MASTER_ADDR").value_or("");
  if (result.size > 1 && result.master.empty()) {
    return fail(Code::invalid_usage,
                "The environment has RANK and WORLD_SIZE but no MASTER_ADDR, so this rank does not "
                "know where to meet the others. Use torchrun, mpirun, or set GYRE_COMM_ID.");
  }
  if (result.size > 1) {
    const Result<int> port = number_in(environment, "MASTER_PORT", 1, 65535);
    if (!port) {
      return Unexpected(port.error());
    }
    result.port = *port;
  }
  result.job =
      fmt::format("{}:{} run {} restart {} communicator {}", result.master, result.port,
                  environment.get("TORCHELASTIC_RUN_ID").value_or(""),
                  environment.get("TORCHELASTIC_RESTART_COUNT").value_or("0"), request.instance);
  return result;
}

Result<net::Address> resolve(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    return fail(Code::system_error, fmt::format("MASTER_ADDR=\"{}\" cannot be resolved: {}.", host,
                                                ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  return net::Address(list->ai_addr, list->ai_addrlen).with_port(static_cast<std::uint16_t>(port));
}

bool is_this_host(const std::string& master) {
  const Result<net::Address> address = resolve(master, 0);
  if (!address) {
    return false;
  }
  const Result<std::vector<net::Interface>> all = net::list_interfaces();
  return address->is_loopback() ||
         (all && std::ranges::any_of(*all, [&](const net::Interface& one) {
            return one.address.with_port(0) == *address;
          }));
}

bool all_on_this_host(const Torchrun& torchrun) {
  return torchrun.local_size >= 0 ? torchrun.local_size == torchrun.size
                                  : is_this_host(torchrun.master);
}

// A name of fixed length that holds no secret; the user keeps jobs of different users apart.
Result<net::Address> meeting_place(const Torchrun& torchrun) {
  std::array<unsigned char, 16> digest{};
  const std::string text = fmt::format("user {} {}", ::geteuid(), torchrun.job);
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  std::string name = "gyre-";
  for (const unsigned char byte : digest) {
    name += fmt::format("{:02x}", byte);
  }
  return net::Address::abstract_unix(name);
}

Status meet_on_this_host(const LaunchRequest& request, const Torchrun& torchrun, Launch& launch) {
  const Result<net::Address> place = meeting_place(torchrun);
  if (!place) {
    return Unexpected(place.error());
  }
  if (torchrun.rank > 0) {
    const Result<UniqueId> id = fetch_id(*place, torchrun.rank, request.deadline);
    if (!id) {
      return Unexpected(id.error());
    }
    launch.id = *id;
    return {};
  }
  Result<std::unique_ptr<Root>> root = make_root(request, true);
  if (!root) {
    return Unexpected(root.error());
  }
  launch.root = std::move(*root);
  launch.id = launch.root->id();
  return serve_id(request.loop, *place, launch.id, torchrun.size, request.deadline);
}

// A host's own name often resolves to a loopback address there (127.0.1.1), which the other hosts
// would never reach. Then rank 0, and who else is on its host, choose from its interfaces instead.
Result<net::Address> beyond_loopback(const LaunchRequest& request, const Torchrun& torchrun,
                                     const net::Address& resolved) {
  const bool means_loopback =
      torchrun.master == "localhost" || net::Address::parse(torchrun.master, 0).has_value();
  if (!resolved.is_loopback() || means_loopback) {
    return resolved;
  }
  Result<net::Address> chosen =
      net::choose_address({request.settings.socket_ifname, request.settings.socket_family, false});
  if (!chosen) {
    return chosen;
  }
  return chosen->with_port(resolved.port());
}

Status meet_across_hosts(const LaunchRequest& request, const Torchrun& torchrun, Launch& launch) {
  const Result<net::Secret> secret = parse_secret(request.settings.job_secret);
  if (!secret) {
    return Unexpected(secret.error());
  }
  const int port = torchrun.port + 1 + request.instance;
  if (port > 65535) {
    return fail(Code::invalid_argument,
                fmt::format("Gyre meets at port MASTER_PORT + 1 + {}, and MASTER_PORT={} leaves no "
                            "room for that. Choose a lower one.",
                            request.instance, torchrun.port));
  }
  Result<net::Address> address = resolve(torchrun.master, port);
  if (address) {
    address = beyond_loopback(request, torchrun, *address);
  }
  if (!address) {
    return Unexpected(address.error());
  }
  const Result<UniqueId> id = UniqueId::derive(*address, *secret, torchrun.job);
  if (!id) {
    return Unexpected(id.error());
  }
  launch.id = *id;
  if (torchrun.rank == 0) {
    Result<std::unique_ptr<Root>> root = Root::serve(request.loop, *id, request.library_version);
    if (!root) {
      return fail(root.error().code,
                  fmt::format("Rank 0 cannot listen for the others at MASTER_PORT + {}: {} Is the "
                              "port taken by another job?",
                              1 + request.instance, net::as_sentence(root.error().message)));
    }
    launch.root = std::move(*root);
  }
  return {};
}

}  // namespace

Result<Launch> launch_by_torchrun(const LaunchRequest& request) {
  const Result<Torchrun> torchrun = read(request);
  if (!torchrun) {
    return Unexpected(torchrun.error());
  }
  Launch launch;
  launch.rank = torchrun->rank;
  launch.size = torchrun->size;
  launch.local_rank = torchrun->local_rank;
  launch.how = "torchrun";
  if (launch.size == 1) {
    return launch;
  }
  if (!request.settings.job_secret.empty()) {
    GYRE_TRY(meet_across_hosts(request, *torchrun, launch));
    return launch;
  }
  if (!all_on_this_host(*torchrun)) {
    return fail(Code::invalid_usage,
                fmt::format("The ranks of this job are on several hosts (MASTER_ADDR={}), and "
                            "torchrun gives them no secret to know each other by. Set "
                            "GYRE_JOB_SECRET to the same 64 hex digits on all hosts, for example "
                            "from: openssl rand -hex 32",
                            torchrun->master));
  }
  GYRE_TRY(meet_on_this_host(request, *torchrun, launch));
  return launch;
}

}  // namespace gyre::bootstrap

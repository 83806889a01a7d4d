// SPDX-License-Identifier: Apache-2.0
#include "net/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/log.h"

namespace gyre::net {
namespace {

// Higher is better; the gaps only order the kinds.
constexpr int score_rejected = -1;
constexpr int score_loopback = 0;
constexpr int score_link_local = 10;
constexpr int score_virtual = 20;
constexpr int score_normal = 30;
constexpr int score_best = 40;
constexpr int bonus_default_route = 5;
constexpr int bonus_v4 = 1;  // between two addresses of one interface

// Bridges and cables into containers and virtual machines: their addresses are often the same on
// every host (172.17.0.1), so a peer that dials one reaches itself or nobody.
constexpr std::array<std::string_view, 10> virtual_prefixes = {
    "docker", "virbr", "veth", "br-", "cni", "flannel", "cali", "lxc", "vnet", "podman"};

bool is_virtual(std::string_view name) {
  return std::ranges::any_of(virtual_prefixes,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

// The list of GYRE_SOCKET_IFNAME, taken apart.
struct NameFilter {
  bool exclude = false;
  bool exact = false;
  std::vector<std::string> names;

  explicit NameFilter(std::string_view text) {
    exclude = text.starts_with('^');
    text.remove_prefix(exclude ? 1 : 0);
    exact = text.starts_with('=');
    text.remove_prefix(exact ? 1 : 0);
    std::istringstream list{std::string(text)};
    for (std::string name; std::getline(list, name, ',');) {
      if (!name.empty()) {
        names.push_back(name);
      }
    }
  }
  [[nodiscard]] bool lists(std::string_view name) const {
    return std::ranges::any_of(names, [&](const std::string& entry) {
      return exact ? name == entry : name.starts_with(entry);
    });
  }
  [[nodiscard]] bool given() const { return !names.empty(); }
  [[nodiscard]] bool asked_for(std::string_view name) const {
    return given() && !exclude && lists(name);
  }
  [[nodiscard]] bool allows(std::string_view name) const {
    return !given() || lists(name) != exclude;
  }
};

bool family_allowed(const std::string& family, int given) {
  return family.empty() || (family == "AF_INET6") == (given == AF_INET6);
}

Candidate judge(const Interface& one, const NameFilter& names, const InterfaceFilter& filter) {
  if (!names.allows(one.name)) {
    return {one, score_rejected, "GYRE_SOCKET_IFNAME leaves it out"};
  }
  if (!family_allowed(filter.family, one.address.family())) {
    return {one, score_rejected, "GYRE_SOCKET_FAMILY leaves it out"};
  }
  if (!one.up) {
    return {one, score_rejected, "it is down"};
  }
  const int bonus = (one.default_route ? bonus_default_route : 0) +
                    (one.address.family() == AF_INET ? bonus_v4 : 0);
  if (names.asked_for(one.name)) {
    return {one, score_normal + bonus, "asked for by GYRE_SOCKET_IFNAME"};
  }
  if (one.loopback && filter.this_host_only) {
    return {one, score_best + bonus, "loopback, and all ranks are on this host"};
  }
  if (one.loopback) {
    return {one, score_loopback + bonus, "loopback: reaches ranks of this host only"};
  }
  if (one.address.is_link_local()) {
    return {one, score_link_local + bonus, "link-local: not routed"};
  }
  if (is_virtual(one.name)) {
    return {one, score_virtual + bonus, "looks like a bridge to containers or virtual machines"};
  }
  return {one, score_normal + bonus, one.default_route ? "has the default route" : "usable"};
}

// Interfaces that /proc/net/route and ipv6_route give a default route; none when unreadable.
std::set<std::string> default_route_interfaces() {
  std::set<std::string> names;
  std::ifstream v4("/proc/net/route");
  for (std::string line; std::getline(v4, line);) {
    std::istringstream fields(line);
    std::string name, destination;
    if (fields >> name >> destination && destination == "00000000") {
      names.insert(name);
    }
  }
  return names;
}

std::string describe(const Candidate& candidate) {
  return fmt::format("{} {} ({})", candidate.interface.name,
                     candidate.interface.address.to_string(), candidate.reason);
}

}  // namespace

Result<std::vector<Interface>> list_interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return system_failure("getifaddrs");
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  const std::set<std::string> routed = default_route_interfaces();
  std::vector<Interface> all;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const sockaddr* address = entry->ifa_addr;
    if (address == nullptr || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) {
      continue;
    }
    const socklen_t length = address->sa_family == AF_INET
                                 ? static_cast<socklen_t>(sizeof(sockaddr_in))
                                 : static_cast<socklen_t>(sizeof(sockaddr_in6));
    all.push_back(
        Interface{entry->ifa_name, Address(address, length),
                  (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0,
                  (entry->ifa_flags & IFF_LOOPBACK) != 0, routed.contains(entry->ifa_name)});
  }
  return all;
}

std::vector<Candidate> rank_interfaces(const std::vector<Interface>& all,
                                       const InterfaceFilter& filter) {
  const NameFilter names(filter.names);
  std::vector<Candidate> candidates;
  candidates.reserve(all.size());
  for (const Interface& one : all) {
    candidates.push_back(judge(one, names, filter));
  }
  std::ranges::stable_sort(candidates, std::greater<>{}, &Candidate::score);
  return candidates;
}

Result<Address> choose_address(const InterfaceFilter& filter) {
  const Result<std::vector<Interface>> all = list_interfaces();
  if (!all) {
    return Unexpected(all.error());
  }
  const std::vector<Candidate> candidates = rank_interfaces(*all, filter);
  for (const Candidate& candidate : candidates) {
    log::info(log::Subsystem::net, "interface {}{}", describe(candidate),
              &candidate == &candidates.front() && candidate.score >= 0 ? ": chosen" : "");
  }
  if (!candidates.empty() && candidates.front().score >= 0) {
    return candidates.front().interface.address;
  }
  std::string list;
  for (const Candidate& candidate : candidates) {
    list += fmt::format("{}{}", list.empty() ? "" : "; ", describe(candidate));
  }
  return fail(
      Code::system_error,
      fmt::format("No network interface of this host can be used: {}. Check "
                  "GYRE_SOCKET_IFNAME=\"{}\" and GYRE_SOCKET_FAMILY=\"{}\", or bring one up.",
                  list.empty() ? "it has none" : list, filter.names, filter.family));
}

}  // namespace gyre::net

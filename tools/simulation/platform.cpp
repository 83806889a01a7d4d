// SPDX-License-Identifier: Apache-2.0
#include "simulation/platform.h"

#include <algorithm>

namespace gyre::simulation {

namespace sg4 = simgrid::s4u;

namespace {

// Nothing is computed on hosts: what costs time is slept.
constexpr double host_speed = 1e9;

// Switches of a leaf have about as many hosts as there are leaves: then two levels suffice.
int hosts_per_leaf(int ranks) {
  int hosts = 1;
  while (hosts * hosts < ranks) hosts *= 2;
  return hosts;
}

}  // namespace

std::vector<std::string> engine_arguments() {
  return {"gyre-plan",
          "--cfg=network/model:CM02",
          "--cfg=network/TCP-gamma:0",
          "--cfg=network/bandwidth-factor:1",
          "--cfg=network/latency-factor:1",
          "--cfg=network/weight-S:0",
          "--cfg=network/crosstraffic:0",
          "--cfg=surf/precision:1e-12",
          "--cfg=contexts/stack-size:128",  // KiB
          "--log=root.thres:critical"};
}

Platform::Platform(sg4::Engine& engine, const Experiment& experiment)
    : latency_of_link_(experiment.latency / 2) {
  if (experiment.topology == Topology::star) {
    add_star(experiment);
  } else {
    add_fat_tree(engine, experiment);
  }
}

void Platform::add_star(const Experiment& experiment) {
  auto* const zone = sg4::create_star_zone("star");
  for (int rank = 0; rank < experiment.plan.ranks; ++rank) {
    const std::string name = "rank-" + std::to_string(rank);
    sg4::Host* const host = zone->create_host(name, host_speed)->seal();
    sg4::SplitDuplexLink* const link =
        zone->create_split_duplex_link("link-" + name, experiment.bandwidth);
    link->set_latency(0)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, sg4::LinkInRoute::Direction::UP}}, true);
    hosts_.push_back(host);
    links_.push_back({link->get_link_up(), link->get_link_down()});
  }
  control_ = zone->create_host("control", host_speed)->seal();
  zone->seal();
}

void Platform::add_fat_tree(const sg4::Engine& engine, const Experiment& experiment) {
  const int per_leaf = hosts_per_leaf(experiment.plan.ranks);
  const int leaves = (experiment.plan.ranks + per_leaf - 1) / per_leaf;
  const auto down = static_cast<unsigned>(per_leaf);
  // As many spine switches as hosts at a leaf: no leaf is oversubscribed.
  const sg4::FatTreeParams shape(2, {down, static_cast<unsigned>(leaves)}, {1, down}, {1, 1});
  const auto make_host = [](sg4::NetZone* zone, const std::vector<unsigned long>& /*place*/,
                            unsigned long id)
      -> std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*> {
    sg4::Host* const host = zone->create_host("rank-" + std::to_string(id), host_speed)->seal();
    return {host->get_netpoint(), nullptr};
  };
  auto* const root = sg4::create_full_zone("machine");
  auto* const tree =
      sg4::create_fatTree_zone("tree", root, shape, sg4::ClusterCallbacks(make_host),
                               experiment.bandwidth, 0, sg4::Link::SharingPolicy::SPLITDUPLEX);
  tree->seal();
  control_ = root->create_host("control", host_speed)->seal();
  root->seal();
  for (int rank = 0; rank < experiment.plan.ranks; ++rank) {
    hosts_.push_back(sg4::Host::by_name("rank-" + std::to_string(rank)));
    links_.emplace_back();
  }
  // The names that SimGrid gives: link_from_CHILD_PARENT_NUMBER, then _UP or _DOWN.
  constexpr std::string_view prefix = "link_from_";
  for (sg4::Link* const link : engine.get_all_links()) {
    if (!link->get_name().starts_with(prefix)) continue;
    const int child = std::atoi(link->get_cname() + prefix.size());
    if (child >= 0 && child < experiment.plan.ranks) {
      links_[static_cast<std::size_t>(child)].push_back(link);
    }
  }
}

double Platform::latency(int from, int to) const {
  std::vector<sg4::Link*> route;
  double of_links = 0;  // they have none
  host(from)->route_to(host(to), route, &of_links);
  return static_cast<double>(route.size()) * latency_of_link_;
}

void Platform::break_link_of(int rank) const {
  for (sg4::Link* const link : links_[static_cast<std::size_t>(rank)]) link->turn_off();
}

void Platform::break_host_of(int rank) const {
  host(rank)->turn_off();
  break_link_of(rank);
}

bool Platform::is_connected(int rank) const {
  return std::ranges::all_of(links_[static_cast<std::size_t>(rank)],
                             [](const sg4::Link* link) { return link->is_on(); });
}

}  // namespace gyre::simulation

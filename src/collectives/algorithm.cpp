// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithm.h"

namespace gyre::plan {

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      return "ring";
    case Algorithm::one_shot:
      return "oneshot";
    case Algorithm::two_shot:
      return "twoshot";
    case Algorithm::chain:
      return "chain";
    case Algorithm::binomial:
      return "binomial";
  }
  return "unknown";
}

std::string_view name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::flag_in_line:
      return "inline";
    case Protocol::staged:
      return "staged";
    case Protocol::direct:
      return "direct";
  }
  return "unknown";
}

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "AllReduce";
    case Collective::reduce:
      return "Reduce";
    case Collective::reduce_scatter:
      return "ReduceScatter";
    case Collective::all_gather:
      return "AllGather";
    case Collective::broadcast:
      return "Broadcast";
    case Collective::gather:
      return "Gather";
    case Collective::scatter:
      return "Scatter";
    case Collective::all_to_all:
      return "AllToAll";
    case Collective::all_to_all_v:
      return "AllToAllV";
    case Collective::barrier:
      return "Barrier";
    case Collective::send_recv:
      return "SendRecv";
    case Collective::all_gather_v:
      return "AllGatherV";
    case Collective::reduce_scatter_v:
      return "ReduceScatterV";
  }
  return "unknown";
}

std::optional<Algorithm> parse_algorithm(std::string_view name) {
  for (const Algorithm algorithm : all_algorithms) {
    if (name == name_of(algorithm)) return algorithm;
  }
  return std::nullopt;
}

std::optional<Protocol> parse_protocol(std::string_view name) {
  for (const Protocol protocol : all_protocols) {
    if (name == name_of(protocol)) return protocol;
  }
  return std::nullopt;
}

std::optional<Collective> parse_collective(std::string_view name) {
  for (const Collective collective : all_collectives) {
    if (name == name_of(collective)) return collective;
  }
  return std::nullopt;
}

}  // namespace gyre::plan

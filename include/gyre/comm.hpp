// SPDX-License-Identifier: Apache-2.0
// gyre::Comm: a communicator and its collectives. Part of gyre.hpp, which is the header to include.
#pragma once

#include <gyre/gyre.hpp>

namespace gyre {
inline namespace api {

// A communicator. Its destruction is collective while it is healthy, as gyreCommDestroy: all ranks
// destroy theirs in the same order. Use destroy() to see how that went.
class Comm {
 public:
  [[nodiscard]] static Outcome<Comm> init_rank(const gyreUniqueId& id, int rank, int ranks,
                                               const gyreConfig_t* config = nullptr) {
    gyreComm_t comm = nullptr;
    const gyreResult_t code = gyreCommInitRankConfig(&comm, ranks, id, rank, config);
    return owned(code, comm);
  }
  [[nodiscard]] static Outcome<Comm> from_environment(const gyreConfig_t* config = nullptr) {
    gyreComm_t comm = nullptr;
    const gyreResult_t code = gyreCommInitEnvironment(&comm, config);
    return owned(code, comm);
  }
  // Takes over a handle, for example that of gyreCommInitMPI.
  [[nodiscard]] static Comm adopt(gyreComm_t comm) { return Comm(comm); }

  [[nodiscard]] gyreComm_t get() const { return owner_.get(); }

  // -1 when the communicator is no more.
  [[nodiscard]] int rank() const {
    int rank = -1;
    gyreCommUserRank(get(), &rank);
    return rank;
  }
  [[nodiscard]] int size() const {
    int count = -1;
    gyreCommCount(get(), &count);
    return count;
  }
  [[nodiscard]] Outcome<gyreRankInfo_t> rank_info(int rank) const {
    gyreRankInfo_t info{};
    info.size = sizeof(info);
    info.version = GYRE_VERSION_CODE;
    if (auto told = outcome(gyreCommGetRankInfo(get(), rank, &info)); !told) {
      return told;
    }
    return info;
  }
  // The plan that the newest collective ran, e.g. "ring/staged"; "" when there was none.
  [[nodiscard]] std::string last_plan() const {
    const char* name = nullptr;
    return gyreCommGetLastPlan(get(), &name) == gyreSuccess && name != nullptr ? name : "";
  }
  // The failure that the communicator is in, if any.
  [[nodiscard]] Outcome<> health() const {
    gyreResult_t failure = gyreSuccess;
    const gyreResult_t asked = gyreCommGetAsyncError(get(), &failure);
    return outcome(asked != gyreSuccess ? asked : failure);
  }

  [[nodiscard]] Outcome<> finalize() { return outcome(gyreCommFinalize(get())); }
  [[nodiscard]] Outcome<> destroy() { return Outcome<>::of(gyreCommDestroy(owner_.release())); }
  [[nodiscard]] Outcome<> abort() { return Outcome<>::of(gyreCommAbort(owner_.release())); }

  // Memory that collectives on this communicator will use often.
  template <Destination Buffer>
  [[nodiscard]] Outcome<Registration> register_memory(Buffer&& buffer,
                                                      unsigned flags = GYRE_REGISTER_DEFAULT) {
    gyreRegistration_t registration = nullptr;
    const std::size_t bytes = std::ranges::size(buffer) * sizeof(*std::ranges::data(buffer));
    const gyreResult_t code =
        gyreCommRegister(get(), std::ranges::data(buffer), bytes, flags, &registration);
    if (code != gyreSuccess) {
      return outcome(code);
    }
    return Registration(get(), registration);
  }

  // ---- collectives: see gyre.h for what each means ----

  template <Source In, Destination Out>
  requires SameElements<In, Out>
  [[nodiscard]] Outcome<> all_reduce(const In& in, Out&& out, gyreRedOp_t op = gyreSum,
                                     gyreStream_t stream = nullptr) {
    if (std::ranges::size(in) != std::ranges::size(out)) {
      return misfit("all_reduce: both ranges must have the same size.");
    }
    return outcome(gyreAllReduce(std::ranges::data(in), std::ranges::data(out),
                                 std::ranges::size(in), type<In>, op, get(), stream));
  }
  // In place.
  template <Destination Buffer>
  [[nodiscard]] Outcome<> all_reduce(Buffer&& buffer, gyreRedOp_t op = gyreSum,
                                     gyreStream_t stream = nullptr) {
    return all_reduce(buffer, buffer, op, stream);
  }

  // `out` may be empty on ranks other than `root`.
  template <Source In, Destination Out>
  requires SameElements<In, Out>
  [[nodiscard]] Outcome<> reduce(const In& in, Out&& out, int root, gyreRedOp_t op = gyreSum,
                                 gyreStream_t stream = nullptr) {
    if (rank() == root && std::ranges::size(in) != std::ranges::size(out)) {
      return misfit("reduce: on the root both ranges must have the same size.");
    }
    return outcome(gyreReduce(std::ranges::data(in), std::ranges::data(out), std::ranges::size(in),
                              type<In>, op, root, get(), stream));
  }

  template <Source In, Destination Out>
  requires SameElements<In, Out>
  [[nodiscard]] Outcome<> reduce_scatter(const In& in, Out&& out, gyreRedOp_t op = gyreSum,
                                         gyreStream_t stream = nullptr) {
    if (!is_whole(std::ranges::size(in), std::ranges::size(out))) {
      return misfit("reduce_scatter: the input must hold one piece of the output's size per rank.");
    }
    return outcome(gyreReduceScatter(std::ranges::data(in), std::ranges::data(out),
                                     std::ranges::size(out), type<In>, op, get(), stream));
  }

  template <Source In, Destination Out>
  requires SameElements<In, Out>
  [[nodiscard]] Outcome<> all_gather(const In& in, Out&& out, gyreStream_t stream = nullptr) {
    if (!is_whole(std::ranges::size(out), std::ranges::size(in))) {
      return misfit("all_gather: the output must hold one piece of the input's size per rank.");
    }
    return outcome(gyreAllGather(std::ranges::data(in), std::ranges::data(out),
                                 std::ranges::size(in), type<In>, get(), stream));
  }

  // In place: the root's buffer goes to all.
  template <Destination Buffer>
  [[nodiscard]] Outcome<> broadcast(Buffer&& buffer, int root, gyreStream_t stream = nullptr) {
    return outcome(gyreBroadcast(std::ranges::data(buffer), std::ranges::data(buffer),
                                 std::ranges::size(buffer), type<Buffer>, root, get(), stream));
  }

  // `out` may be empty on ranks other than `root`.
  template <Source In, Destination Out>
  requires SameElements<In, Out>
  [[nodiscard]] Outcome<> gather(const In& in, Out&& out, int root, gyreStream_t stream = nullptr) {
    if (rank() == root && !is_whole(std::ranges::size(out), std::ranges::size(in))) {
      return misfit("gather: the root's output must hold one piece of the input's size per rank.");
    }
    return outcome(gyreGather(std::ranges::data(in), std::ranges::data(out), std::ranges::size(in),
                              type<In>, root, get(), stream));
  }

  // `in` may be empty on ranks other than `root`.
  template <Source In, Destination Out>
  requires SameElements<In, Out>
  [[nodiscard]] Outcome<> scatter(const In& in, Out&& out, int root,
                                  gyreStream_t stream = nullptr) {
    if (rank() == root && !is_whole(std::ranges::size(in), std::ranges::size(out))) {
      return misfit("scatter: the root's input must hold one piece of the output's size per rank.");
    }
    return outcome(gyreScatter(std::ranges::data(in), std::ranges::data(out),
                               std::ranges::size(out), type<In>, root, get(), stream));
  }

  template <Source In, Destination Out>
  requires SameElements<In, Out>
  [[nodiscard]] Outcome<> all_to_all(const In& in, Out&& out, gyreStream_t stream = nullptr) {
    const auto ranks = static_cast<std::size_t>(size());
    const std::size_t piece = std::ranges::size(in) / ranks;
    if (std::ranges::size(in) != std::ranges::size(out) || piece * ranks != std::ranges::size(in)) {
      return misfit("all_to_all: both ranges must have the same size, a multiple of the ranks.");
    }
    return outcome(gyreAllToAll(std::ranges::data(in), std::ranges::data(out), piece, type<In>,
                                get(), stream));
  }

  template <Source In>
  [[nodiscard]] Outcome<> send(const In& in, int peer, gyreStream_t stream = nullptr) {
    return outcome(
        gyreSend(std::ranges::data(in), std::ranges::size(in), type<In>, peer, get(), stream));
  }
  template <Destination Out>
  [[nodiscard]] Outcome<> recv(Out&& out, int peer, gyreStream_t stream = nullptr) {
    return outcome(
        gyreRecv(std::ranges::data(out), std::ranges::size(out), type<Out>, peer, get(), stream));
  }

  // The ranks that give the same color, in the order of their keys; nothing for a rank that gives
  // GYRE_SPLIT_NOCOLOR. Not inside a group.
  [[nodiscard]] Outcome<std::optional<Comm>> split(int color, int key = 0,
                                                   const gyreConfig_t* config = nullptr) {
    gyreComm_t part = nullptr;
    const gyreResult_t code = gyreCommSplit(get(), color, key, &part, config);
    if (code != gyreSuccess) {
      return outcome(code);
    }
    return part == nullptr ? std::optional<Comm>() : std::optional<Comm>(Comm(part));
  }

  [[nodiscard]] Outcome<> barrier(gyreStream_t stream = nullptr) {
    return outcome(gyreBarrier(get(), stream));
  }

 private:
  template <typename R>
  static constexpr gyreDataType_t type = data_type<std::ranges::range_value_t<R>>;

  explicit Comm(gyreComm_t comm) : owner_(comm) {}

  static Outcome<Comm> owned(gyreResult_t code, gyreComm_t comm) {
    if (code != gyreSuccess) {
      return Outcome<>::of(code);
    }
    return Comm(comm);
  }

  [[nodiscard]] Outcome<> outcome(gyreResult_t code) const { return Outcome<>::of(code, get()); }

  static Outcome<> misfit(const char* rule) {
    return {gyreInvalidArgument, std::string("gyre::Comm::") + rule};
  }
  [[nodiscard]] bool is_whole(std::size_t all, std::size_t piece) const {
    return all == piece * static_cast<std::size_t>(size());
  }

  Owner<gyreComm_t, gyreCommDestroy> owner_;
};

}  // namespace api
}  // namespace gyre

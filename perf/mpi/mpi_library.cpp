// SPDX-License-Identifier: Apache-2.0
#include "perf/mpi/mpi_library.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "perf/common/failure.h"

namespace perf {
namespace {

// What each rank tells rank 0, as bytes on the wire between builds of one program.
struct Card {
  std::int64_t pid = 0;
  int cpu = -1;
  std::array<char, 64> host{};
  std::array<char, 64> cpus{};
};

std::string allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "?";
  std::string text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cpu);
    if (last > cpu) text += "-" + std::to_string(last);
    cpu = last;
  }
  return text;
}

Card own_card() {
  Card card;
  card.pid = getpid();
  card.cpu = sched_getcpu();
  gethostname(card.host.data(), card.host.size() - 1);
  std::strncpy(card.cpus.data(), allowed_cpus().c_str(), card.cpus.size() - 1);
  return card;
}

}  // namespace

void require_mpi(int result, const char* call) {
  if (result == MPI_SUCCESS) [[likely]]
    return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw Failure(std::string(call) + ": " + text.data());
}

MpiLibrary::MpiLibrary(int* argc, char*** argv) {
  require_mpi(MPI_Init(argc, argv), "MPI_Init");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiLibrary::~MpiLibrary() {
  MPI_Finalize();
}

std::string MpiLibrary::version() const {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string name(text.data());
  // Open MPI: "Open MPI v4.1.4, package: ..."; MPICH: "MPICH Version:\t4.0.2\nMPICH Release ...".
  name.resize(std::min(name.find_first_of(",\n"), name.size()));
  for (char& letter : name) letter = letter == '\t' ? ' ' : letter;
  return name;
}

MPI_Datatype mpi_datatype(ElementType type) {
  switch (type) {
    case ElementType::int8:
      return MPI_INT8_T;
    case ElementType::uint8:
      return MPI_UINT8_T;
    case ElementType::int32:
      return MPI_INT32_T;
    case ElementType::uint32:
      return MPI_UINT32_T;
    case ElementType::int64:
      return MPI_INT64_T;
    case ElementType::uint64:
      return MPI_UINT64_T;
    case ElementType::float32:
      return MPI_FLOAT;
    case ElementType::float64:
      return MPI_DOUBLE;
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Op mpi_operation(Operation op) {
  switch (op) {
    case Operation::sum:
      return MPI_SUM;
    case Operation::prod:
      return MPI_PROD;
    case Operation::max:
      return MPI_MAX;
    case Operation::min:
      return MPI_MIN;
    case Operation::band:
      return MPI_BAND;
    case Operation::bor:
      return MPI_BOR;
    case Operation::bxor:
      return MPI_BXOR;
    default:
      return MPI_OP_NULL;
  }
}

bool MpiLibrary::supports(ElementType type, Operation op) const {
  return mpi_datatype(type) != MPI_DATATYPE_NULL && mpi_operation(op) != MPI_OP_NULL &&
         (!is_bitwise(op) || is_integer(type));
}

std::vector<RankLine> MpiLibrary::rank_lines() {
  const Card mine = own_card();
  std::vector<Card> cards(static_cast<std::size_t>(size_));
  require_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE,
                            MPI_COMM_WORLD),
              "MPI_Allgather");
  std::vector<RankLine> lines;
  for (const Card& card : cards) {
    lines.push_back({static_cast<int>(lines.size()), card.pid, card.host.data(), card.cpu,
                     card.cpus.data(), "MPI"});
  }
  return lines;
}

std::unique_ptr<Memory> MpiLibrary::allocate(std::size_t bytes) {
  return allocate_plain(bytes);
}

void MpiLibrary::combine(std::span<double> values, Combine how) {
  const MPI_Op op = how == Combine::sum ? MPI_SUM : how == Combine::min ? MPI_MIN : MPI_MAX;
  require_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                            MPI_DOUBLE, op, MPI_COMM_WORLD),
              "MPI_Allreduce (of the benchmark's own figures)");
}

}  // namespace perf

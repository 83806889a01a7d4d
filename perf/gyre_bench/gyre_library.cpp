// SPDX-License-Identifier: Apache-2.0
#include "perf/gyre_bench/gyre_library.h"

#include "perf/common/failure.h"
#include "perf/common/inputs.h"
#include "perf/common/small_float.h"

namespace perf {
namespace {

static_assert(static_cast<int>(ElementType::float8e5m2) == gyreFloat8e5m2);
static_assert(static_cast<int>(Operation::bxor) == gyreBxor);

class GyreMemory : public Memory {
 public:
  GyreMemory(const GyreLibrary& library, std::size_t bytes) {
    library.require(gyreMemAlloc(&data_, bytes), "gyreMemAlloc");
  }
  ~GyreMemory() override { static_cast<void>(gyreMemFree(data_)); }
  std::byte* data() override { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

// Memory of the C library whose pages peers may map.
class RegisteredMemory : public Memory {
 public:
  RegisteredMemory(const GyreLibrary& library, std::size_t bytes)
      : plain_(allocate_plain(bytes)), communicator_(library.communicator()) {
    library.require(gyreCommRegister(communicator_, plain_->data(), bytes,
                                     GYRE_REGISTER_SHARE_IN_PLACE, &registration_),
                    "gyreCommRegister");
  }
  ~RegisteredMemory() override {
    static_cast<void>(gyreCommDeregister(communicator_, registration_));
  }
  std::byte* data() override { return plain_->data(); }

 private:
  std::unique_ptr<Memory> plain_;
  gyreComm_t communicator_;
  gyreRegistration_t registration_ = nullptr;
};

}  // namespace

GyreLibrary::GyreLibrary(const Options& options) : buffers_(options.buffers) {
  gyreConfig_t config = GYRE_CONFIG_INITIALIZER;
  if (options.timeout_s > 0) config.timeoutSeconds = options.timeout_s;
  require(gyreCommInitEnvironment(&communicator_, &config), "gyreCommInitEnvironment");
  require(gyreCommUserRank(communicator_, &rank_), "gyreCommUserRank");
  require(gyreCommCount(communicator_, &size_), "gyreCommCount");
  if (!options.null_stream) require(gyreStreamCreate(&stream_), "gyreStreamCreate");
}

GyreLibrary::~GyreLibrary() {
  if (communicator_ != nullptr) static_cast<void>(gyreCommAbort(communicator_));
}

void GyreLibrary::finish() {
  for (const auto& [type, op] : mulsum_) {
    require(gyreRedOpDestroy(op, communicator_), "gyreRedOpDestroy");
  }
  mulsum_.clear();
  if (stream_ != nullptr) require(gyreStreamDestroy(stream_), "gyreStreamDestroy");
  stream_ = nullptr;
  gyreComm_t ended = communicator_;
  communicator_ = nullptr;
  require(gyreCommDestroy(ended), "gyreCommDestroy");
}

void GyreLibrary::fail(gyreResult_t result, const char* call) const {
  const std::string text = gyreGetLastError(communicator_);
  if (result == gyreNotSupported)
    throw NotSupported(std::string(call) + ": not supported: " + text);
  throw Failure("rank " + std::to_string(rank_) + ": " + call + ": " + gyreGetErrorString(result) +
                ": " + text);
}

std::string GyreLibrary::version() const {
  int code = 0;
  require(gyreGetVersion(&code), "gyreGetVersion");
  return "Gyre " + std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." +
         std::to_string(code % 100);
}

bool GyreLibrary::supports(ElementType type, Operation op) const {
  return !is_bitwise(op) || is_integer(type);
}

std::vector<RankLine> GyreLibrary::rank_lines() {
  std::vector<RankLine> lines;
  for (int rank = 0; rank < size_; ++rank) {
    gyreRankInfo_t info{};
    info.size = sizeof info;
    info.version = GYRE_VERSION_CODE;
    require(gyreCommGetRankInfo(communicator_, rank, &info), "gyreCommGetRankInfo");
    lines.push_back({info.rank, info.pid, info.host, info.cpu, info.cpus, info.transport});
  }
  return lines;
}

std::unique_ptr<Memory> GyreLibrary::allocate(std::size_t bytes) {
  switch (buffers_) {
    case Buffers::registered:
      return std::make_unique<RegisteredMemory>(*this, bytes);
    case Buffers::allocated:
      return std::make_unique<GyreMemory>(*this, bytes);
    case Buffers::plain:
      break;
  }
  return allocate_plain(bytes);
}

void GyreLibrary::combine(std::span<double> values, Combine how) {
  const gyreRedOp_t op = how == Combine::sum ? gyreSum : how == Combine::min ? gyreMin : gyreMax;
  require(gyreAllReduce(values.data(), values.data(), values.size(), gyreFloat64, op, communicator_,
                        nullptr),
          "gyreAllReduce (of the benchmark's own figures)");
}

void GyreLibrary::wait_until_done() {
  if (stream_ != nullptr) require(gyreStreamSynchronize(stream_), "gyreStreamSynchronize");
}

void GyreLibrary::begin_group() {
  require(gyreGroupStart(), "gyreGroupStart");
}

void GyreLibrary::end_group() {
  require(gyreGroupEnd(), "gyreGroupEnd");
}

std::string GyreLibrary::plan() const {
  const char* name = nullptr;
  require(gyreCommGetLastPlan(communicator_, &name), "gyreCommGetLastPlan");
  return name == nullptr || *name == '\0' ? "-" : name;
}

gyreDataType_t GyreLibrary::datatype(ElementType type) {
  return static_cast<gyreDataType_t>(type);
}

gyreRedOp_t GyreLibrary::reduction(Operation op, ElementType type) {
  if (op != Operation::mulsum) return static_cast<gyreRedOp_t>(op);
  const auto found = mulsum_.find(type);
  return found != mulsum_.end() ? found->second : create_mulsum(type);
}

gyreRedOp_t GyreLibrary::create_mulsum(ElementType type) {
  const int factor = mulsum_factor(rank_);
  // One element of any type: little-endian integers need no case of their own.
  std::uint64_t integer = static_cast<std::uint64_t>(factor);
  auto single = static_cast<float>(factor);
  double twice = factor;
  const void* scalar = &integer;
  if (type == ElementType::float32) {
    scalar = &single;
  } else if (type == ElementType::float64) {
    scalar = &twice;
  } else if (!is_integer(type)) {
    integer = encode_small_float(type, single);
  }
  gyreRedOp_t op = gyreSum;
  require(gyreRedOpCreatePreMulSum(&op, scalar, datatype(type), communicator_),
          "gyreRedOpCreatePreMulSum");
  mulsum_[type] = op;
  return op;
}

}  // namespace perf

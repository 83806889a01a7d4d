// SPDX-License-Identifier: Apache-2.0
#include "core/operations.h"

#include <cstring>

#include <fmt/core.h>

#include "core/validate.h"
#include "memory/small_float.h"

namespace gyre::core {
namespace {

ReduceOp kernel_of(gyreRedOp_t op) {
  switch (op) {
    case gyreProd:
      return ReduceOp::prod;
    case gyreMax:
      return ReduceOp::max;
    case gyreMin:
      return ReduceOp::min;
    case gyreBand:
      return ReduceOp::band;
    case gyreBor:
      return ReduceOp::bor;
    case gyreBxor:
      return ReduceOp::bxor;
    default:
      return ReduceOp::sum;
  }
}

template <typename T>
void store(std::array<std::byte, 8>& to, T value) {
  std::memcpy(to.data(), &value, sizeof(value));
}

// The user's scalar as scale_kernel takes it: small floats are scaled in float32.
std::array<std::byte, 8> scale_from(const void* scalar, DataType type) {
  std::array<std::byte, 8> scale{};
  std::uint16_t half = 0;
  std::memcpy(&half, scalar, size_of(type) == 1 ? 1 : 2);
  switch (type) {
    case DataType::float16:
      store(scale, float16_to_float32(half));
      break;
    case DataType::bfloat16:
      store(scale, bfloat16_to_float32(half));
      break;
    case DataType::float8e4m3:
      store(scale, float8e4m3_to_float32(static_cast<std::uint8_t>(half)));
      break;
    case DataType::float8e5m2:
      store(scale, float8e5m2_to_float32(static_cast<std::uint8_t>(half)));
      break;
    default:
      std::memcpy(scale.data(), scalar, size_of(type));
  }
  return scale;
}

engine::Reduction average(DataType type, int ranks) {
  engine::Reduction reduction{.type = type, .op = ReduceOp::sum};
  if (is_integer(type)) {
    reduction.divisor = static_cast<std::size_t>(ranks);
    return reduction;
  }
  reduction.scaled = true;
  if (type == DataType::float64) {
    store(reduction.scale, 1.0 / ranks);
  } else {
    store(reduction.scale, 1.0F / static_cast<float>(ranks));
  }
  return reduction;
}

}  // namespace

gyreRedOp_t Operations::add_premulsum(const void* scalar, gyreDataType_t type) {
  const auto element = static_cast<DataType>(type);
  made_[next_] = {.reduction = {.type = element,
                                .op = ReduceOp::sum,
                                .scaled = true,
                                .scale = scale_from(scalar, element)}};
  return static_cast<gyreRedOp_t>(next_++);
}

gyreRedOp_t Operations::add_user(const engine::UserFunction& function) {
  made_[next_] = {.reduction = {.user = function}, .any_type = true};
  return static_cast<gyreRedOp_t>(next_++);
}

Status Operations::remove(gyreRedOp_t op) {
  if (made_.erase(op) == 1) {
    return {};
  }
  return fail(Code::invalid_argument,
              fmt::format("op is {}, which is no operation that was made for this communicator.",
                          static_cast<int>(op)));
}

Result<engine::Reduction> Operations::resolve(gyreRedOp_t op, gyreDataType_t type) const {
  const auto element = static_cast<DataType>(type);
  const auto made = made_.find(op);
  if (made == made_.end()) {
    GYRE_TRY(check_builtin_operation(op, type));
    return op == gyreAvg ? average(element, ranks_)
                         : engine::Reduction{.type = element, .op = kernel_of(op)};
  }
  engine::Reduction reduction = made->second.reduction;
  if (!made->second.any_type && reduction.type != element) {
    return fail(
        Code::invalid_argument,
        fmt::format("datatype is {}, but op {} was made by gyreRedOpCreatePreMulSum for {}.",
                    name_of(element), static_cast<int>(op), name_of(reduction.type)));
  }
  reduction.type = element;
  return reduction;
}

}  // namespace gyre::core

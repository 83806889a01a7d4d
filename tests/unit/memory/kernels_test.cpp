// SPDX-License-Identifier: Apache-2.0
// Every vector kernel against the scalar one, bit by bit, over shapes, counts, alignments, in-place
// forms and stores.
#include "memory/kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "unit/memory/kernel_fixtures.h"

namespace gyre {
namespace {

struct Shape {
  std::size_t sources;
  std::size_t destinations;
  std::size_t count;
  std::size_t misalignment;  // of the first buffer in elements and bytes; the others differ
  // The last destination is this source; none if it is past the sources.
  std::size_t in_place;
  StoreHint hint;
};

std::string describe(const KernelTable& table, DataType type, ReduceOp op, const Shape& shape) {
  return std::string(table.target) + " " + std::string(name_of(type)) + " " +
         std::string(name_of(op)) + " k=" + std::to_string(shape.sources) +
         " m=" + std::to_string(shape.destinations) + " n=" + std::to_string(shape.count) +
         " misaligned by " + std::to_string(shape.misalignment) + " in place " +
         std::to_string(shape.in_place) +
         (shape.hint == StoreHint::streaming ? " streaming" : " cached");
}

class KernelsTest : public testing::TestWithParam<DataType> {
 protected:
  void check(const KernelTable& table, ReduceOp op, const Shape& shape) {
    const std::size_t bytes = shape.count * size_of(GetParam());
    std::vector<GuardedBuffer> buffers;
    std::vector<const std::byte*> sources;
    std::vector<std::byte*> destinations;
    for (std::size_t b = 0; b < shape.sources + shape.destinations; ++b) {
      buffers.emplace_back(bytes, (shape.misalignment * (b + 1)) % 64);
    }
    for (std::size_t b = 0; b < shape.sources; ++b) {
      fill_random(buffers[b].data(), bytes, GetParam(), random_);
      sources.push_back(buffers[b].data());
    }
    for (std::size_t b = 0; b < shape.destinations; ++b) {
      destinations.push_back(buffers[shape.sources + b].data());
    }
    if (shape.in_place < shape.sources) {
      destinations.back() = buffers[shape.in_place].data();
    }
    std::vector<std::byte> expected(bytes);
    const std::array<std::byte*, 1> reference = {expected.data()};
    scalar_kernel(op)(reference, sources, shape.count, StoreHint::cached);

    kernel(table, op)(destinations, sources, shape.count, shape.hint);
    for (std::byte* destination : destinations) {
      ASSERT_EQ(bytes == 0 ? 0 : std::memcmp(destination, expected.data(), bytes), 0)
          << describe(table, GetParam(), op, shape);
    }
    for (const GuardedBuffer& buffer : buffers) {
      ASSERT_TRUE(buffer.guards_intact()) << describe(table, GetParam(), op, shape);
    }
  }

  [[nodiscard]] static ReduceKernel kernel(KernelTable table, ReduceOp op) {
    return table.reduce(GetParam(), op);
  }
  [[nodiscard]] static ReduceKernel scalar_kernel(ReduceOp op) {
    return kernel(scalar_kernels(), op);
  }

  std::mt19937 random_{11};
};

constexpr std::array<std::size_t, 13> counts = {0, 1, 2, 3, 5, 7, 15, 17, 63, 65, 100, 257, 1003};

TEST_P(KernelsTest, EveryShapeEqualsTheScalarKernel) {
  for (const KernelTable& table : vector_kernels()) {
    for (const ReduceOp op : operations_of(GetParam())) {
      for (const std::size_t sources : {1, 2, 3, 5}) {
        for (const std::size_t destinations : {1, 2, 3}) {
          for (const std::size_t count : counts) {
            const Shape shape = {sources, destinations, count, 0, sources, StoreHint::cached};
            check(table, op, shape);
          }
        }
      }
    }
  }
}

TEST_P(KernelsTest, AnyAlignmentInPlaceAndStreaming) {
  for (const KernelTable& table : vector_kernels()) {
    for (const ReduceOp op : operations_of(GetParam())) {
      for (const std::size_t misalignment : {0, 1, 4, 13}) {
        for (const StoreHint hint : {StoreHint::cached, StoreHint::streaming}) {
          for (const std::size_t destinations : {1, 2}) {
            for (const std::size_t count : {3, 17, 100, 1003}) {
              check(table, op, {2, destinations, count, misalignment, 0, hint});
              check(table, op, {3, destinations, count, misalignment, 2, hint});
              check(table, op, {2, destinations, count, misalignment, 2, hint});
            }
          }
        }
      }
    }
  }
}

// Enough elements for many pieces of the streaming and the two-destination loops.
TEST_P(KernelsTest, LongRanges) {
  for (const KernelTable& table : vector_kernels()) {
    for (const StoreHint hint : {StoreHint::cached, StoreHint::streaming}) {
      check(table, ReduceOp::sum, {2, 1, 20'011, 3, 0, hint});
      check(table, ReduceOp::max, {2, 2, 20'011, 3, 1, hint});
      check(table, ReduceOp::min, {1, 2, 20'011, 3, 1, hint});
    }
  }
}

TEST_P(KernelsTest, ScaleEqualsTheScalarKernel) {
  const DataType type = GetParam();
  for (KernelTable& table : vector_kernels()) {
    for (const std::size_t count : counts) {
      for (int repeat = 0; repeat < 8; ++repeat) {
        const std::size_t bytes = count * size_of(type);
        GuardedBuffer from(bytes, 4);
        GuardedBuffer to(bytes, 13);
        std::vector<std::byte> expected(bytes);
        std::array<std::byte, 8> factor;
        const DataType factor_type =
            size_of(type) < 4 && !is_integer(type) ? DataType::float32 : type;
        fill_random(factor.data(), size_of(factor_type), factor_type, random_);
        fill_random(from.data(), bytes, type, random_);
        KernelTable reference = scalar_kernels();
        reference.scale(type)(expected.data(), from.data(), factor.data(), count);
        table.scale(type)(to.data(), from.data(), factor.data(), count);
        table.scale(type)(from.data(), from.data(), factor.data(), count);
        ASSERT_EQ(to.contents(), expected) << table.target << " " << count;
        ASSERT_EQ(from.contents(), expected) << table.target << " in place " << count;
        ASSERT_TRUE(to.guards_intact() && from.guards_intact());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, KernelsTest, testing::ValuesIn(all_types()),
                         [](const auto& parameter) {
                           return std::string(name_of(parameter.param));
                         });

TEST(KernelTableTest, BitwiseOperationsAreForIntegers) {
  for (const DataType type : all_types()) {
    for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor}) {
      EXPECT_EQ(reduce_kernel(type, op) != nullptr, is_integer(type)) << name_of(type);
    }
    EXPECT_NE(reduce_kernel(type, ReduceOp::sum), nullptr);
    EXPECT_NE(scale_kernel(type), nullptr);
    EXPECT_EQ(divide_kernel(type) != nullptr, is_integer(type));
  }
}

TEST(KernelTableTest, VectorTargetsAreReallyUsed) {
  if (std::string(kernel_target()) == "scalar") {
    GTEST_SKIP() << "this processor has no vector target that is compiled";
  }
  KernelTable scalar = scalar_kernels();
  for (const DataType type : all_types()) {
    for (const ReduceOp op : operations_of(type)) {
      EXPECT_NE(reduce_kernel(type, op), scalar.reduce(type, op)) << name_of(type) << name_of(op);
    }
  }
}

TEST(KernelTableTest, EachTargetHasItsOwnKernels) {
  std::vector<KernelTable> tables = vector_kernels();
  tables.push_back(scalar_kernels());
  EXPECT_EQ(std::string(tables.front().target), kernel_target());
  for (std::size_t i = 1; i < tables.size(); ++i) {
    EXPECT_NE(std::string(tables[i].target), tables[i - 1].target);
    EXPECT_NE(tables[i].reduce(DataType::float16, ReduceOp::min),
              tables[i - 1].reduce(DataType::float16, ReduceOp::min));
  }
}

TEST(CopyTest, CopiesExactlyTheRange) {
  std::mt19937 random(5);
  for (const StoreHint hint : {StoreHint::cached, StoreHint::streaming}) {
    for (const std::size_t bytes :
         {0, 1, 7, 8, 63, 64, 65, 1000, 1023, 1024, 1025, 4096, 100'003}) {
      for (const std::size_t misalignment : {0, 1, 8, 63}) {
        GuardedBuffer from(bytes, 5);
        GuardedBuffer to(bytes, misalignment);
        fill_random(from.data(), bytes, DataType::uint8, random);
        copy_bytes(to.data(), from.data(), bytes, hint);
        ASSERT_EQ(to.contents(), from.contents()) << bytes << " at " << misalignment;
        ASSERT_TRUE(to.guards_intact());
      }
    }
  }
}

}  // namespace
}  // namespace gyre

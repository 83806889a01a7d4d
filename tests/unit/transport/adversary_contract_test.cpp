// SPDX-License-Identifier: Apache-2.0
// The adversarial double keeps the contract as a real transport does: so what fails over it fails
// by its own fault.
#include "unit/support/adversarial_network.h"
#include "unit/transport/contract_suite.h"

namespace gyre::transport {
namespace {

class AdversarialPair final : public Pair {
 public:
  explicit AdversarialPair(const Shape& shape) : network_(2, shape, 1) {}
  Connection& left() override { return *network_.connections(0)[1]; }
  Connection& right() override { return *network_.connections(1)[0]; }
  void expect_no_violations() override {
    for (const std::string& violation : network_.violations()) {
      ADD_FAILURE() << violation;
    }
  }

 private:
  test::AdversarialNetwork network_;
};

INSTANTIATE_TEST_SUITE_P(Adversary, Contract,
                         testing::Values(TransportUnderTest{
                             "adversary",
                             [](const Shape& shape, std::uint64_t /*messages_before*/) {
                               return std::make_unique<AdversarialPair>(shape);
                             }}),
                         [](const auto& each) { return each.param.name; });

TEST(AdversarialNetwork, SeesAThirdSmallMessageTooEarly) {
  const test::AdversarialNetwork network(2, {}, 1);
  const std::byte word[8] = {};
  for (int i = 0; i < 3; ++i) {
    network.connections(0)[1]->put_inline(word, 1);
  }
  EXPECT_EQ(network.violations().size(), 1U);
}

TEST(AdversarialNetwork, SeesAReleaseOfNothing) {
  const test::AdversarialNetwork network(2, {}, 1);
  std::byte* slot = network.connections(0)[1]->slot_to_fill(0);
  ASSERT_NE(slot, nullptr);
  network.connections(0)[1]->put(0, 1, 1);
  network.connections(1)[0]->release(0);
  EXPECT_EQ(network.violations().size(), 1U);
}

}  // namespace
}  // namespace gyre::transport

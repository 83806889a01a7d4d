// SPDX-License-Identifier: Apache-2.0
#include "topology/host_identity.h"

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gyre::topology {
namespace {

using ::testing::HasSubstr;

TEST(HostIdentity, OfThisProcess) {
  const HostIdentity identity = read_host_identity();
  EXPECT_FALSE(identity.host_id.empty());
  EXPECT_FALSE(identity.host_name.empty());
  EXPECT_NE(identity.network_namespace, 0u);
  EXPECT_EQ(identity.pid, ::getpid());
  EXPECT_EQ(identity.user, ::getuid());
  EXPECT_GE(identity.cpu, 0);
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  EXPECT_EQ(count_cpus(identity.cpus), static_cast<std::size_t>(CPU_COUNT(&allowed)));
  EXPECT_TRUE(can_share_memory(identity, read_host_identity()));
}

TEST(HostIdentity, WithoutProcItFallsBackToTheName) {
  const HostIdentity identity = read_host_identity("", "/nowhere");
  EXPECT_EQ(identity.host_id, identity.host_name);
  EXPECT_EQ(identity.network_namespace, 0u);
  EXPECT_TRUE(identity.cpus.empty());
  EXPECT_TRUE(can_share_memory(identity, identity));
}

TEST(HostIdentity, OverrideDecidesWhoIsTogether) {
  const HostIdentity a = read_host_identity("left");
  const HostIdentity b = read_host_identity("right");
  EXPECT_EQ(a.host_id, "left");
  EXPECT_TRUE(can_share_memory(a, read_host_identity("left")));
  EXPECT_FALSE(can_share_memory(a, b));
  EXPECT_THAT(why_not_shared(a, b), HasSubstr("GYRE_HOST_ID"));
  EXPECT_FALSE(can_share_memory(a, read_host_identity()));
}

TEST(HostIdentity, AnotherNetworkNamespaceCannotBeReached) {
  const HostIdentity a = read_host_identity();
  HostIdentity b = a;
  b.network_namespace += 1;
  EXPECT_FALSE(can_share_memory(a, b));
  EXPECT_THAT(why_not_shared(a, b), HasSubstr("network namespace"));
  b = a;
  b.user += 1;
  b.pid_namespace += 1;
  EXPECT_TRUE(can_share_memory(a, b));
}

TEST(HostIdentity, SurvivesTheWire) {
  HostIdentity identity = read_host_identity("some id");
  identity.cpu = -1;
  identity.pid = std::int64_t{1} << 40;
  const auto parsed = parse_host_identity(serialise(identity));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, identity);
}

TEST(HostIdentity, RefusesEveryOtherLength) {
  auto bytes = serialise(read_host_identity());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(parse_host_identity(std::span(bytes).first(length))) << length;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(parse_host_identity(bytes));
}

TEST(HostIdentity, RefusesAnotherVersionAndAbsurdLengths) {
  auto bytes = serialise(read_host_identity());
  bytes[0] = std::byte{2};
  const auto other = parse_host_identity(bytes);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("layout 2"));
  bytes[0] = std::byte{1};
  bytes[1] = bytes[2] = std::byte{0xff};
  EXPECT_FALSE(parse_host_identity(bytes));
}

TEST(CountCpus, ReadsKernelLists) {
  EXPECT_EQ(count_cpus("0"), 1u);
  EXPECT_EQ(count_cpus("0-3,8"), 5u);
  EXPECT_EQ(count_cpus("0-3,8,10-11"), 7u);
  for (const char* bad : {"", "x", "3-1", "0-", "-1", "0,,1", "0 "}) {
    EXPECT_EQ(count_cpus(bad), 0u) << bad;
  }
}

}  // namespace
}  // namespace gyre::topology

// SPDX-License-Identifier: Apache-2.0
#include "net/interfaces.h"

#include <gmock/gmock.h>

namespace gyre::net {
namespace {

using ::testing::HasSubstr;

Interface on(const char* name, const char* address, bool default_route = false) {
  Interface one;
  one.name = name;
  one.address = *Address::parse(address, 0);
  one.up = true;
  one.loopback = one.address.is_loopback();
  one.default_route = default_route;
  return one;
}

std::string best(const std::vector<Interface>& all, const InterfaceFilter& filter = {}) {
  const auto candidates = rank_interfaces(all, filter);
  return candidates.empty() || candidates[0].score < 0
             ? "none"
             : candidates[0].interface.address.to_string();
}

const std::vector<Interface> host = {on("lo", "127.0.0.1"),       on("docker0", "172.17.0.1"),
                                     on("veth12", "169.254.3.1"), on("eth0", "fe80::1"),
                                     on("eth0", "10.0.0.1"),      on("eth1", "10.1.0.1", true),
                                     on("eth1", "fd00::1", true)};

TEST(Interfaces, TheDefaultRouteWinsAndBridgesAndLinkLocalComeLate) {
  EXPECT_EQ(best(host), "10.1.0.1:0");
  const auto order = rank_interfaces(host, {});
  std::vector<std::string> names;
  for (const Candidate& candidate : order) {
    names.push_back(candidate.interface.name);
    EXPECT_FALSE(candidate.reason.empty());
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"eth1", "eth1", "eth0", "docker0", "veth12", "eth0", "lo"}));
}

TEST(Interfaces, LoopbackOnlyWhenNothingElseOrAllRanksAreHere) {
  EXPECT_EQ(best({on("lo", "127.0.0.1")}), "127.0.0.1:0");
  EXPECT_EQ(best({on("lo", "127.0.0.1"), on("veth0", "169.254.0.9")}), "169.254.0.9:0");
  EXPECT_EQ(best(host, {"", "", true}), "127.0.0.1:0");
}

TEST(Interfaces, TheUserChoosesByPrefixExactNameAndExclusion) {
  EXPECT_EQ(best(host, {"eth0", ""}), "10.0.0.1:0");
  EXPECT_EQ(best(host, {"docker,ib", ""}), "172.17.0.1:0");
  EXPECT_EQ(best(host, {"=eth", ""}), "none");
  EXPECT_EQ(best(host, {"=lo", ""}), "127.0.0.1:0");
  EXPECT_EQ(best(host, {"^eth1,docker", ""}), "10.0.0.1:0");
  EXPECT_EQ(best(host, {"^=eth1", ""}), "10.0.0.1:0");
  EXPECT_EQ(best(host, {"", "AF_INET6"}), "[fd00::1]:0");
}

TEST(Interfaces, OneThatIsDownIsNeverTaken) {
  std::vector<Interface> all = {on("eth0", "10.0.0.1", true), on("lo", "127.0.0.1")};
  all[0].up = false;
  EXPECT_EQ(best(all), "127.0.0.1:0");
  EXPECT_EQ(best(all, {"eth0", ""}), "none");
}

TEST(Interfaces, ThisHostHasSome) {
  const auto all = list_interfaces();
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->empty());
  const auto refused = choose_address({"=no-such-interface", ""});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("GYRE_SOCKET_IFNAME leaves it out"));
}

TEST(Address, TextAndWireRoundTrip) {
  for (const char* text : {"10.2.3.4", "127.0.0.1", "fd00::7", "::1"}) {
    const auto address = Address::parse(text, 4242);
    ASSERT_TRUE(address);
    EXPECT_THAT(address->to_string(), HasSubstr(text));
    ByteWriter writer;
    address->encode(writer);
    ASSERT_EQ(writer.size(), Address::encoded_bytes);
    ByteReader reader(writer.view());
    EXPECT_EQ(Address::decode(reader), *address);
    EXPECT_TRUE(reader.complete());
  }
  EXPECT_FALSE(Address::parse("localhost", 1)) << "names are not resolved";
  EXPECT_FALSE(Address::parse("10.0.0", 1));
}

TEST(Address, BrokenBytesAreNoAddress) {
  for (const unsigned char family : {'\0', '\5', '\177'}) {
    ByteWriter writer;
    Address::loopback_v4(1).encode(writer);
    Bytes bytes = writer.take();
    bytes[0] = static_cast<std::byte>(family);
    ByteReader reader(bytes);
    EXPECT_FALSE(Address::decode(reader).valid());
  }
  const Bytes cut(Address::encoded_bytes - 1, std::byte{4});
  ByteReader reader(cut);
  EXPECT_FALSE(Address::decode(reader).valid());
  EXPECT_FALSE(reader.valid());
}

TEST(Address, KnowsItsKind) {
  EXPECT_TRUE(Address::parse("127.0.1.1", 0)->is_loopback());
  EXPECT_TRUE(Address::parse("::1", 0)->is_loopback());
  EXPECT_FALSE(Address::parse("10.0.0.1", 0)->is_loopback());
  EXPECT_TRUE(Address::parse("169.254.9.9", 0)->is_link_local());
  EXPECT_TRUE(Address::parse("fe80::1", 0)->is_link_local());
  EXPECT_FALSE(Address::parse("fd00::1", 0)->is_link_local());
  EXPECT_FALSE(Address::abstract_unix(""));
  EXPECT_FALSE(Address::abstract_unix(std::string(108, 'x')));
}

}  // namespace
}  // namespace gyre::net

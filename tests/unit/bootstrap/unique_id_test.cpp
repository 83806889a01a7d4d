// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/unique_id.h"

#include <gmock/gmock.h>

namespace gyre::bootstrap {
namespace {

using ::testing::HasSubstr;

UniqueId make(const char* host = "10.0.0.1") {
  return *UniqueId::create(*net::Address::parse(host, 4000));
}

TEST(UniqueIdTest, BytesAndHexComeBackAsTheyWere) {
  for (const char* host : {"10.0.0.1", "fd00::9"}) {
    const UniqueId id = make(host);
    for (const auto& back : {UniqueId::decode(id.encode()), UniqueId::from_hex(id.to_hex())}) {
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(back->root, id.root);
      EXPECT_EQ(back->epoch, id.epoch);
      EXPECT_EQ(back->secret, id.secret);
    }
    EXPECT_EQ(id.to_hex().size(), 256u);
  }
}

TEST(UniqueIdTest, NoTwoAreAlike) {
  const UniqueId one = make();
  const UniqueId two = make();
  EXPECT_NE(one.secret, two.secret);
  EXPECT_NE(one.epoch, two.epoch);
}

TEST(UniqueIdTest, AnyChangedBitIsNoticed) {
  const UniqueId::Encoded good = make().encode();
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    UniqueId::Encoded bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    const auto id = UniqueId::decode(bad);
    ASSERT_FALSE(id) << "bit " << bit;
    EXPECT_EQ(id.error().code, Code::invalid_argument);
    EXPECT_THAT(id.error().message, HasSubstr("no Gyre unique id"));
  }
}

TEST(UniqueIdTest, ErrorsSayWhatIsWrong) {
  const auto error_of = [](const auto& result) {
    return result ? std::string("none") : result.error().message;
  };
  EXPECT_THAT(error_of(UniqueId::decode(net::Bytes(127))), HasSubstr("there are 127 of them"));
  EXPECT_THAT(error_of(UniqueId::decode(net::Bytes(128))), HasSubstr("begin wrongly"));
  UniqueId::Encoded later = make().encode();
  later[4] = std::byte{2};
  EXPECT_THAT(error_of(UniqueId::decode(later)), HasSubstr("layout is number 2"));
  EXPECT_THAT(error_of(UniqueId::from_hex("abc")), HasSubstr("256 hex digits, this has 3"));
  std::string hex = make().to_hex();
  hex[10] = 'g';
  EXPECT_THAT(error_of(UniqueId::from_hex(hex)), HasSubstr("no hex digit at position 10"));
}

TEST(UniqueIdTest, DerivedOnesAgreeAndDifferByJobAndSecret) {
  const net::Address root = net::Address::loopback_v4(1);
  net::Secret secret{};
  net::Secret other{};
  other[0] = std::byte{1};
  const auto one = UniqueId::derive(root, secret, "job");
  EXPECT_EQ(one->secret, UniqueId::derive(root, secret, "job")->secret);
  EXPECT_EQ(one->epoch, UniqueId::derive(root, secret, "job")->epoch);
  EXPECT_NE(one->secret, UniqueId::derive(root, secret, "job 2")->secret);
  EXPECT_NE(one->secret, UniqueId::derive(root, other, "job")->secret);
  EXPECT_NE(one->secret, secret) << "the job's secret itself is never used on the wire";
}

TEST(UniqueIdTest, JobSecretsAreSixtyFourHexDigits) {
  EXPECT_TRUE(parse_secret(std::string(64, 'a')));
  EXPECT_FALSE(parse_secret(std::string(63, 'a')));
  EXPECT_FALSE(parse_secret(std::string(64, 'x')));
}

}  // namespace
}  // namespace gyre::bootstrap

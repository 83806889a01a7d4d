// SPDX-License-Identifier: Apache-2.0
#include "net/frame.h"

#include <gmock/gmock.h>

#include <random>

namespace gyre::net {
namespace {

using ::testing::HasSubstr;

Bytes bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

const FrameLimits limits{{1, 8}, {2, 0}, {3, 1u << 20}};

TEST(FrameParser, FindsFramesHoweverTheBytesAreCut) {
  Bytes stream;
  std::vector<Bytes> sent;
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    Bytes payload(random() % 300);
    std::ranges::generate(payload, [&] { return static_cast<std::byte>(random()); });
    const Bytes frame = encode_frame(3, payload);
    stream.insert(stream.end(), frame.begin(), frame.end());
    sent.push_back(payload);
  }
  for (const std::size_t piece : {1u, 2u, 15u, 16u, 17u, 1000u, 100000u}) {
    FrameParser parser(limits);
    std::vector<Bytes> received;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      ASSERT_TRUE(parser.feed(ByteView(stream).subspan(at, std::min(piece, stream.size() - at))));
      while (auto frame = parser.next()) {
        EXPECT_EQ(frame->type, 3);
        received.push_back(std::move(frame->payload));
      }
    }
    EXPECT_EQ(received, sent) << "pieces of " << piece;
    EXPECT_TRUE(parser.at_boundary());
  }
}

TEST(FrameParser, AnEmptyPayloadIsAFrame) {
  FrameParser parser(limits);
  ASSERT_TRUE(parser.feed(encode_frame(2, {})));
  const auto frame = parser.next();
  ASSERT_TRUE(frame);
  EXPECT_TRUE(frame->payload.empty());
  EXPECT_FALSE(parser.next());
}

TEST(FrameParser, KnowsThatAFrameIsCutOff) {
  const Bytes frame = encode_frame(1, bytes_of("12345678"));
  for (std::size_t length = 1; length < frame.size(); ++length) {
    FrameParser parser(limits);
    ASSERT_TRUE(parser.feed(ByteView(frame).first(length)));
    EXPECT_FALSE(parser.next());
    EXPECT_FALSE(parser.at_boundary()) << length;
  }
}

struct Malformed {
  const char* name;
  std::size_t offset;  // of the byte that is changed in a good frame of type 1 with 8 bytes
  int value;
  const char* message;
};

class MalformedHeader : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedHeader, IsRefusedForGoodAndSaysWhy) {
  Bytes frame = encode_frame(1, bytes_of("12345678"));
  frame[GetParam().offset] = static_cast<std::byte>(GetParam().value);
  FrameParser parser(limits);
  ASSERT_TRUE(parser.feed(encode_frame(1, bytes_of("good"))));
  const Status fed = parser.feed(frame);
  ASSERT_FALSE(fed);
  EXPECT_THAT(fed.error().message, HasSubstr(GetParam().message));
  EXPECT_FALSE(parser.feed(encode_frame(1, bytes_of("good"))));
  ASSERT_TRUE(parser.next()) << "what came before is kept";
  EXPECT_FALSE(parser.next());
}

INSTANTIATE_TEST_SUITE_P(Each, MalformedHeader,
                         ::testing::Values(Malformed{"magic", 0, 'X', "instead of \"GYRF\""},
                                           Malformed{"magic_end", 3, 0, "instead of \"GYRF\""},
                                           Malformed{"version", 4, 2, "version 2, expected 1"},
                                           Malformed{"type", 6, 9, "unknown type 9"},
                                           Malformed{"type_high", 7, 1, "unknown type 257"},
                                           Malformed{"length_over_its_bound", 8, 9,
                                                     "claims 9 bytes, at most 8"},
                                           Malformed{"length_huge", 15, 0xff, "at most 8"},
                                           Malformed{"length_for_another_type", 6, 2, "at most 0"}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(FrameParser, RandomBytesNeverCrashIt) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    Bytes bytes = encode_frame(static_cast<FrameType>(1 + random() % 3), bytes_of("abc"));
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    FrameParser parser(limits);
    static_cast<void>(parser.feed(bytes));
    while (parser.next()) {
    }
  }
}

TEST(ByteReader, StaysInvalidAfterAShortRead) {
  const Bytes bytes = bytes_of("abc");
  ByteReader reader(bytes);
  EXPECT_EQ(reader.u16(), 0x6261);
  EXPECT_EQ(reader.u32(), 0u);
  EXPECT_FALSE(reader.valid());
  EXPECT_EQ(reader.u8(), 0u) << "the byte that is left is not read any more";
}

TEST(ByteReader, ABlobThatClaimsMoreThanThereIsYieldsNothing) {
  ByteWriter writer;
  writer.u32(0xffffffff);
  writer.u8(1);
  ByteReader reader(writer.view());
  EXPECT_TRUE(reader.blob().empty());
  EXPECT_FALSE(reader.valid());
}

TEST(ByteReader, ReadsWhatWasWritten) {
  ByteWriter writer;
  writer.u8(1);
  writer.u16(0x0203);
  writer.u32(0x04050607);
  writer.u64(0x08090a0b0c0d0e0f);
  writer.text("gyre");
  ByteReader reader(writer.view());
  EXPECT_EQ(reader.u8(), 1);
  EXPECT_EQ(reader.u16(), 0x0203);
  EXPECT_EQ(reader.u32(), 0x04050607u);
  EXPECT_EQ(reader.u64(), 0x08090a0b0c0d0e0fu);
  EXPECT_FALSE(reader.complete());
  EXPECT_EQ(reader.text(), "gyre");
  EXPECT_TRUE(reader.complete());
}

}  // namespace
}  // namespace gyre::net

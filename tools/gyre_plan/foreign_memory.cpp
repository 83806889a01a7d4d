// SPDX-License-Identifier: Apache-2.0
#include "gyre_plan/foreign_memory.h"

#include <fmt/format.h>

#include "collectives/algorithm.h"

namespace gyre::tool {

std::string to_text(const ForeignChunk& chunk) {
  constexpr const char* names[] = {"input", "output", "scratch memory"};
  return fmt::format("chunk {} of the {} of rank {}", chunk.index,
                     names[static_cast<std::size_t>(chunk.buffer)], chunk.rank);
}

ForeignMemory::ForeignMemory(const ForeignPlan& foreign)
    : foreign_(foreign), layout_(plan::layout_of(foreign.collective)) {}

// Buffers that hold one section only have the block of their owner. In place such a section lies in
// the buffer that has all, at the owner's place.
Result<int> ForeignMemory::block_of(const ForeignChunk& chunk) const {
  const bool one_section =
      layout_.sectioned &&
      !(chunk.buffer == ForeignBuffer::input ? layout_.input_sections : layout_.output_sections);
  if (!one_section) {
    if (chunk.index >= 0 && chunk.index < foreign_.chunks) return chunk.index;
  } else if (chunk.index == 0 || (foreign_.in_place && chunk.index == chunk.rank)) {
    return chunk.rank;
  }
  return fail(Code::invalid_argument,
              fmt::format("{} has no {}: sections are one chunk in Gyre.",
                          plan::name_of(foreign_.collective), to_text(chunk)));
}

Result<ForeignMemory::Read> ForeignMemory::read(int reader, const ForeignChunk& chunk) {
  if (chunk.buffer == ForeignBuffer::scratch) {
    return fail(Code::not_supported,
                fmt::format("It reads {}. Plans have no such memory.", to_text(chunk)));
  }
  const auto block = block_of(chunk);
  if (!block) return Unexpected(block.error());
  const bool own = chunk.rank == reader;
  const auto written = outputs_.find({chunk.rank, *block});
  if (in_output(chunk) && written != outputs_.end()) {
    const plan::Place place = own ? plan::Place::output : plan::Place::peer_output;
    return Read{{place, *block, own ? -1 : chunk.rank}, written->second};
  }
  if (chunk.buffer == ForeignBuffer::output && !foreign_.in_place) {
    return fail(Code::invalid_argument,
                fmt::format("It reads {} before that was written.", to_text(chunk)));
  }
  ForeignValue value{.block = *block, .from = std::vector<bool>(foreign_.ranks.size())};
  value.from[static_cast<std::size_t>(chunk.rank)] = true;
  const plan::Place place = own ? plan::Place::input : plan::Place::peer_input;
  return Read{{place, *block, own ? -1 : chunk.rank}, std::move(value)};
}

Result<plan::Slice> ForeignMemory::write(int writer, const ForeignChunk& chunk,
                                         const ForeignValue& value) {
  if (chunk.buffer == ForeignBuffer::scratch) {
    return fail(Code::not_supported,
                fmt::format("It writes {}. Plans have no such memory.", to_text(chunk)));
  }
  if (!in_output(chunk)) {
    return fail(Code::not_supported,
                fmt::format("It writes {}. In Gyre nobody writes an input.", to_text(chunk)));
  }
  const auto block = block_of(chunk);
  if (!block) return Unexpected(block.error());
  outputs_[{chunk.rank, *block}] = value;
  outputs_[{chunk.rank, *block}].block = *block;
  const bool own = chunk.rank == writer;
  return plan::Slice{own ? plan::Place::output : plan::Place::peer_output, *block,
                     own ? -1 : chunk.rank};
}

}  // namespace gyre::tool

// SPDX-License-Identifier: Apache-2.0
#include "core/exchange.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "collectives/algorithm.h"
#include "core/call.h"

namespace gyre::core {

using plan::Collective;

namespace {

Call call_of(Collective kind, const Message& message) {
  return {.collective = kind, .type = message.type, .count = message.count};
}

std::string elements(std::uint64_t count, DataType type) {
  return fmt::format("{} element{} of {}", count, count == 1 ? "" : "s", name_of(type));
}

std::string prefix(Collective kind) {
  return kind == Collective::send_recv ? "" : fmt::format("In {}, ", plan::name_of(kind));
}

Status misfit(int rank, const Message& from, const Message& to) {
  return fail(Code::invalid_usage,
              fmt::format("Rank {} sends {} to itself and receives {} from itself: the two must be "
                          "the same.",
                          rank, elements(from.count, from.type), elements(to.count, to.type)));
}

Status lonely(int rank, bool sends) {
  return fail(Code::invalid_usage,
              fmt::format("Rank {} {} itself without {} in the same group: that could never end. "
                          "Put both between gyreGroupStart and gyreGroupEnd.",
                          rank, sends ? "sends to" : "receives from",
                          sends ? "receiving it" : "sending to itself"));
}

std::size_t at(int rank) {
  return static_cast<std::size_t>(rank);
}

}  // namespace

Exchange::Exchange(int rank, int ranks, shm::Endpoint* endpoint,
                   std::span<transport::Connection* const> connections,
                   const transport::Shape& shape)
    : rank_(rank),
      endpoint_(endpoint),
      engine_(connections, shape),
      sent_(at(ranks)),
      received_(at(ranks)) {}

Status Exchange::prepare(Collective kind, std::span<const Message> messages) {
  GYRE_TRY(copy_to_self(messages));
  kind_ = kind;
  messages_.clear();
  transfers_.clear();
  bytes_ = 0;
  for (const Message& message : messages) {
    if (message.peer == rank_) {
      continue;
    }
    const Call call = call_of(kind, message);
    const std::size_t bytes = message.count * size_of(message.type);
    messages_.push_back(message);
    transfers_.push_back({.peer = message.peer,
                          .receives = message.receives,
                          .from = static_cast<const std::byte*>(message.from),
                          .to = static_cast<std::byte*>(message.to),
                          .bytes = bytes,
                          .tag = signature(call)});
    bytes_ += bytes;
    if (!message.receives) {
      endpoint_->publish_send(message.peer, ++sent_[at(message.peer)], encode(call));
    }
  }
  return {};
}

engine::Outcome Exchange::run(bool stream_messages, engine::Waiter& waiter) {
  const engine::Outcome outcome = engine_.run(transfers_, stream_messages, waiter);
  if (outcome == engine::Outcome::done) {
    for (const Message& message : messages_) {
      received_[at(message.peer)] += message.receives ? 1 : 0;
    }
  }
  return outcome;
}

// The k-th send to itself is what the k-th receive from itself gets. Checked before anything moves.
Status Exchange::copy_to_self(std::span<const Message> messages) {
  const auto next_of = [&](std::size_t from, bool receives) {
    while (from < messages.size() &&
           (messages[from].peer != rank_ || messages[from].receives != receives)) {
      ++from;
    }
    return from;
  };
  const auto each_pair = [&](auto&& body) -> Status {
    std::size_t send = next_of(0, false);
    std::size_t receive = next_of(0, true);
    for (; send < messages.size() && receive < messages.size();
         send = next_of(send + 1, false), receive = next_of(receive + 1, true)) {
      GYRE_TRY(body(messages[send], messages[receive]));
    }
    return send == receive ? Status() : lonely(rank_, send < messages.size());
  };
  GYRE_TRY(each_pair([&](const Message& from, const Message& to) -> Status {
    return from.count == to.count && from.type == to.type ? Status() : misfit(rank_, from, to);
  }));
  return each_pair([](const Message& from, const Message& to) -> Status {
    if (from.count > 0) {
      std::memmove(to.to, from.from, from.count * size_of(from.type));
    }
    return {};
  });
}

std::optional<Exchange::Awaited> Exchange::awaited_from(int peer) {
  for (const auto& pending : engine_.pending_receives()) {
    if (pending.peer == peer) {
      return Awaited{number_of(pending), &messages_[pending.transfer]};
    }
  }
  return std::nullopt;
}

bool Exchange::find_misfit() {
  for (const auto& pending : engine_.pending_receives()) {
    const Message& message = messages_[pending.transfer];
    const std::uint64_t number = number_of(pending);
    const EncodedCall expected = encode(call_of(kind_, message));
    const auto sent = endpoint_->send_of(pending.peer, number);
    if (sent && *sent != expected) {
      return true;
    }
    if (!sent && pending.peer == blamed()) {
      endpoint_->publish_missed(pending.peer, number, expected[0], message.count);
    }
  }
  return false;
}

bool Exchange::is_missed_by(int peer) const {
  const auto missed = endpoint_->missed_by(peer);
  return missed && (*missed)[0] == static_cast<std::uint64_t>(rank_) &&
         (*missed)[1] > sent_[at(peer)];
}

std::string Exchange::explain_misfit(int peer) {
  std::string text;
  for (const auto& pending : engine_.pending_receives()) {
    const std::uint64_t number = number_of(pending);
    const Message& message = messages_[pending.transfer];
    const auto sent = endpoint_->send_of(pending.peer, number);
    const bool differs = sent && *sent != encode(call_of(kind_, message));
    if (!differs && (pending.peer != peer || !text.empty())) {
      continue;
    }
    std::string theirs = "does something else";
    if (differs) {
      const Call other = decode(*sent);
      theirs = other.collective == kind_
                   ? fmt::format("sends {}", elements(other.count, other.type))
                   : fmt::format("sends {} of its {}", elements(other.count, other.type),
                                 plan::name_of(other.collective));
    } else if (const auto call =
                   endpoint_->call_of(pending.peer, endpoint_->newest_call_of(pending.peer))) {
      theirs = fmt::format("makes {}", describe(decode(*call)));
    }
    text = fmt::format(
        "{}rank {} receives {} from rank {} as message {} between them, and rank {} "
        "{}",
        prefix(kind_), rank_, elements(message.count, message.type), pending.peer, number,
        pending.peer, theirs);
    if (differs) {
      break;
    }
  }
  return text;
}

std::string Exchange::describe_missed_by(int peer) const {
  const auto missed = endpoint_->missed_by(peer);
  if (!missed) {
    return {};
  }
  const Call call = decode({(*missed)[2], 0, 0, (*missed)[3]});
  return fmt::format("rank {} waits for message {} of rank {}, {}", peer, (*missed)[1], rank_,
                     elements(call.count, call.type));
}

std::string Exchange::describe_wait(int peer) {
  if (const auto awaited = awaited_from(peer)) {
    return fmt::format("{}message {} from rank {}, {}, did not come", prefix(kind_),
                       awaited->number, peer,
                       elements(awaited->message->count, awaited->message->type));
  }
  return fmt::format("{}rank {} does not take what is sent to it", prefix(kind_), peer);
}

}  // namespace gyre::core

// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/control_channel.h"

#include "bootstrap/control_core.h"

namespace gyre::bootstrap {

ControlChannel::ControlChannel(std::shared_ptr<Core> core) : core_(std::move(core)) {}

Result<std::unique_ptr<ControlChannel>> ControlChannel::connect(net::EventLoop& loop,
                                                                ControlOptions options) {
  std::unique_ptr<ControlChannel> channel(
      new ControlChannel(std::make_shared<Core>(loop, std::move(options))));
  GYRE_TRY(channel->core_->join());
  return channel;
}

ControlChannel::~ControlChannel() {
  core_->close();
}

int ControlChannel::rank() const {
  return core_->rank();
}
int ControlChannel::size() const {
  return core_->size();
}
const std::vector<Bytes>& ControlChannel::cards() const {
  return core_->cards();
}
std::size_t ControlChannel::links() const {
  return core_->links();
}

Result<std::vector<Bytes>> ControlChannel::all_gather(ByteView mine, Deadline deadline) {
  return core_->exchange(GatherStep::Kind::all_gather, mine, deadline);
}

Status ControlChannel::barrier(Deadline deadline) {
  GYRE_TRY(core_->exchange(GatherStep::Kind::barrier, {}, deadline));
  return {};
}

void ControlChannel::fail(int culprit, Code code, std::string text) {
  core_->record({culprit, code, std::move(text)});
}

std::optional<Failure> ControlChannel::failure() const {
  return core_->failure();
}
void ControlChannel::goodbye() {
  core_->goodbye();
}

}  // namespace gyre::bootstrap

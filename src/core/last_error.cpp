// SPDX-License-Identifier: Apache-2.0
#include "core/last_error.h"

#include "base/log.h"

namespace gyre::core {
namespace {

std::string& text_of_this_thread() {
  thread_local std::string text;
  return text;
}

template <Code code, gyreResult_t result>
constexpr bool same = static_cast<int>(code) == static_cast<int>(result);
static_assert(same<Code::success, gyreSuccess>);
static_assert(same<Code::unhandled_cuda_error, gyreUnhandledCudaError>);
static_assert(same<Code::system_error, gyreSystemError>);
static_assert(same<Code::internal_error, gyreInternalError>);
static_assert(same<Code::invalid_argument, gyreInvalidArgument>);
static_assert(same<Code::invalid_usage, gyreInvalidUsage>);
static_assert(same<Code::remote_error, gyreRemoteError>);
static_assert(same<Code::in_progress, gyreInProgress>);
static_assert(same<Code::timeout, gyreTimeout>);
static_assert(same<Code::not_supported, gyreNotSupported>);
static_assert(same<Code::aborted, gyreAborted>);

bool changed_nothing(Code code) {
  return code == Code::invalid_argument || code == Code::not_supported || code == Code::aborted ||
         code == Code::in_progress;
}

}  // namespace

gyreResult_t to_result(Code code) {
  return static_cast<gyreResult_t>(code);
}

gyreResult_t report(const Error& error) {
  if (changed_nothing(error.code)) {
    log::info(log::Subsystem::coll, "{}", error.message);
  } else if (text_of_this_thread() != error.message) {  // the same cause again is no news
    log::warn(log::Subsystem::coll, "{}", error.message);
  }
  text_of_this_thread() = error.message;
  return to_result(error.code);
}

const std::string& last_error() {
  return text_of_this_thread();
}

}  // namespace gyre::core

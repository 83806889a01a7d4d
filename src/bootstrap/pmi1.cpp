// SPDX-License-Identifier: Apache-2.0
#include "bootstrap/pmi1.h"

#include <chrono>

#include <fmt/format.h>

#include "net/socket.h"

namespace gyre::bootstrap {
namespace {

constexpr std::size_t longest_line = 4096;
constexpr auto farewell_limit = std::chrono::seconds(2);

}  // namespace

Result<std::unique_ptr<Pmi1>> Pmi1::open(int fd, net::Deadline deadline) {
  std::unique_ptr<Pmi1> session(new Pmi1(fd, deadline));
  GYRE_TRY(session->ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init"));
  const Result<std::string> named = session->ask("cmd=get_my_kvsname", "my_kvsname");
  if (!named) {
    return Unexpected(named.error());
  }
  session->space_ = field(*named, "kvsname");
  return session;
}

Pmi1::~Pmi1() {
  deadline_ = net::after(farewell_limit);
  static_cast<void>(ask("cmd=finalize", "finalize_ack"));  // an MPI may have said it before us
}

Status Pmi1::put(const std::string& key, const std::string& value) {
  GYRE_TRY(
      ask(fmt::format("cmd=put kvsname={} key={} value={}", space_, key, value), "put_result"));
  return {};
}

Status Pmi1::barrier() {
  GYRE_TRY(ask("cmd=barrier_in", "barrier_out"));
  return {};
}

Result<std::string> Pmi1::get(const std::string& key) {
  Result<std::string> answer =
      ask(fmt::format("cmd=get kvsname={} key={}", space_, key), "get_result");
  if (!answer) {
    return answer;
  }
  return field(*answer, "value");
}

std::string Pmi1::field(const std::string& line, const std::string& name) {
  const std::string start = " " + name + "=";
  std::string padded(1, ' ');
  padded += line;
  padded += ' ';
  const std::size_t found = padded.find(start);
  if (found == std::string::npos) {
    return "";
  }
  const std::size_t begin = found + start.size();
  return padded.substr(begin, padded.find(' ', begin) - begin);
}

Result<std::string> Pmi1::ask(const std::string& command, const std::string& expected) {
  const std::string line = command + "\n";
  GYRE_TRY(net::write_all(fd_, std::as_bytes(std::span(line)), deadline_));
  Result<std::string> answer = read_line();
  if (!answer) {
    return answer;
  }
  if (field(*answer, "cmd") != expected) {
    return fail(
        Code::system_error,
        fmt::format("The PMI server answered \"{}\" where {} was expected.", *answer, expected));
  }
  if (const std::string code = field(*answer, "rc"); !code.empty() && code != "0") {
    return fail(Code::system_error,
                fmt::format("The PMI server refused a request: \"{}\".", *answer));
  }
  return answer;
}

// Byte by byte: what follows the line is not ours to take.
Result<std::string> Pmi1::read_line() {
  std::string line;
  while (line.size() < longest_line) {
    std::byte byte{};
    GYRE_TRY(net::read_exactly(fd_, {&byte, 1}, deadline_));
    if (byte == std::byte{'\n'}) {
      return line;
    }
    line += static_cast<char>(byte);
  }
  return fail(Code::system_error, "The PMI server sent a line without end.");
}

}  // namespace gyre::bootstrap

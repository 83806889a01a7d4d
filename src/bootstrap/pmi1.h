// SPDX-License-Identifier: Apache-2.0
// PMI-1, the line protocol that Hydra (mpiexec of MPICH and its kin) speaks over an inherited
// descriptor: "cmd=put key=... value=...\n", answered by a line of the same form.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "net/deadline.h"

namespace gyre::bootstrap {

class Pmi1 {
 public:
  // Begins a session on the descriptor, which stays the launcher's (and an MPI's in this process).
  static Result<std::unique_ptr<Pmi1>> open(int fd, net::Deadline deadline);
  // Says that this process ends in good order; Hydra takes its end for a crash otherwise. Nothing
  // can be asked after that.
  ~Pmi1();
  Pmi1(const Pmi1&) = delete;
  Pmi1& operator=(const Pmi1&) = delete;

  void set_deadline(net::Deadline deadline) { deadline_ = deadline; }
  Status put(const std::string& key, const std::string& value);
  Status barrier();
  Result<std::string> get(const std::string& key);

  // The value of name=value in a line of such words; empty when it is not there.
  static std::string field(const std::string& line, const std::string& name);

 private:
  Pmi1(int fd, net::Deadline deadline) : fd_(fd), deadline_(deadline) {}
  // Sends one command and gives the answer's line, which must be of the kind `expected`.
  Result<std::string> ask(const std::string& command, const std::string& expected);
  Result<std::string> read_line();

  int fd_;
  net::Deadline deadline_;
  std::string space_;  // the job's key-value space
};

}  // namespace gyre::bootstrap

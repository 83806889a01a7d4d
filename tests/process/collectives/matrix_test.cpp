// SPDX-License-Identifier: Apache-2.0
// The matrix: collective x algorithm x protocol x cut x type x operation x count x ranks x root x
// in place x alignment x memory, over real processes (support/matrix_space.h).
//
// Every pair of values meets in a case, and each job, once started, plays a random sample more. With
// --full, or GYRE_TESTS_MATRIX_FULL=1: the whole product. GYRE_TESTS_SEED=N: another sample.
// GYRE_TESTS_CASE=N: only that case, by the number that a failure names.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "process/collectives/matrix_player.h"
#include "support/job.h"
#include "support/matrix_space.h"
#include "support/pairwise.h"
#include "support/sanitizers.h"

namespace gyre::test {
namespace {

using Numbers = std::vector<std::uint64_t>;

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? std::nullopt
                                          : std::optional(std::strtoull(text, nullptr, 10));
}

bool is_full() {
  return number_from("GYRE_TESTS_MATRIX_FULL").value_or(0) != 0;
}

std::uint64_t seed() {
  return number_from("GYRE_TESTS_SEED").value_or(20260101);
}

// The first places of a row, the others open.
Row environment_of(const Row& row) {
  Row open(row.size(), not_chosen);
  std::copy_n(row.begin(), environment_parameters, open.begin());
  return open;
}

// ---- in the ranks --------------------------------------------------------------------------------

// Says digests of what must be the same on all ranks: of each case, or of many together.
class Digests {
 public:
  explicit Digests(int together) : together_(together) {}
  Digests(const Digests&) = delete;
  Digests& operator=(const Digests&) = delete;
  ~Digests() { flush(); }

  void add(const MatrixCase& one, std::uint64_t digest) {
    if (!one.traits().alike) return;
    sum_ = scramble(sum_, digest);
    newest_ = one.number;
    if (++count_ == together_) flush();
  }

 private:
  void flush() {
    if (count_ > 0)
      say("digest up to case " + std::to_string(newest_) + ": " + std::to_string(sum_));
    count_ = 0;
  }

  int together_;
  int count_ = 0;
  std::uint64_t sum_ = 0, newest_ = 0;
};

// Arguments: the numbers of the cases.
int play_cases(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) return checks.exit_code();
  MatrixPlayer player(checks, comm.get());
  Digests digests(1);
  for (const std::string& argument : arguments) {
    const MatrixCase one = case_of(decode_row(std::stoull(argument)));
    std::uint64_t digest = 0;
    if (!player.play(one, digest)) break;
    digests.add(one, digest);
  }
  return checks.exit_code();
}

// Argument: the number of any case of the environment, all of whose cases are played.
int play_all(std::span<const std::string> arguments) {
  Checks checks;
  const RankComm comm(checks);
  if (!comm) return checks.exit_code();
  MatrixPlayer player(checks, comm.get());
  Digests digests(256);
  for_each_row(matrix_space(), environment_of(decode_row(std::stoull(arguments[0]))),
               [&](const Row& row) {
                 if (checks.failures() > 0) return;
                 const MatrixCase one = case_of(row);
                 std::uint64_t digest = 0;
                 if (player.play(one, digest)) digests.add(one, digest);
               });
  return checks.exit_code();
}

// ---- in the test program -------------------------------------------------------------------------

std::string digests_of(const RankOutcome& outcome) {
  std::istringstream lines(outcome.output);
  std::string digests;
  for (std::string line; std::getline(lines, line);) {
    digests += line.starts_with("digest ") ? line + '\n' : "";
  }
  return digests;
}

// Runs cases of one environment.
void run_job(const std::string& role, const Numbers& cases, std::chrono::seconds limit) {
  const MatrixCase first = case_of(decode_row(cases.front()));
  std::vector<std::string> environment = first.environment();
  environment.emplace_back("GYRE_TIMEOUT=60");  // the others end too when one rank gives up
  std::vector<std::string> arguments;
  for (const std::uint64_t number : cases) arguments.push_back(std::to_string(number));
  Job job = Job::start({.role = role,
                        .ranks = first.ranks,
                        .arguments = arguments,
                        .environment = environment,
                        .limit = limit});
  const std::vector<RankOutcome> outcomes = job.wait();
  for (const RankOutcome& rank : outcomes) {
    ASSERT_TRUE(rank.succeeded()) << testing::PrintToString(environment) << '\n' << rank;
    ASSERT_EQ(digests_of(rank), digests_of(outcomes[0]))
        << testing::PrintToString(environment) << ": rank " << rank.rank << " has other bits";
  }
}

// The cases to play, by the number of their environment.
using Jobs = std::map<Row, Numbers>;

// A random case in the environment of `row`: parameter by parameter, so that those that have few
// forms (a Broadcast has one operation) come as often as others.
std::uint64_t random_case(const Row& row, std::uint64_t seed) {
  Row filled = environment_of(row);
  EXPECT_TRUE(complete(matrix_space(), filled, seed));
  return encode(filled);
}

Jobs sampled_jobs() {
  // Many ranks on few processors take long.
  const auto sample_of = [](const Row& environment) {
    const int ranks = case_of(decode_row(random_case(environment, seed()))).ranks;
    return ranks > 8 ? repetitions(3, 1) : ranks > 4 ? repetitions(6, 1) : repetitions(12, 2);
  };
  // A process under a sanitizer takes a second to start.
  constexpr std::size_t every_row = under_sanitizer ? 5 : 1;
  Jobs jobs;
  const std::vector<Row> rows = covering_array(matrix_space(), seed());
  for (std::size_t i = 0; i < rows.size(); i += every_row) {
    jobs[environment_of(rows[i])].push_back(encode(rows[i]));
  }
  std::uint64_t draw = seed();
  for (auto& [environment, cases] : jobs) {
    for (int i = 0; i < sample_of(environment); ++i)
      cases.push_back(random_case(environment, ++draw));
  }
  return jobs;
}

// One case each, which stands for its environment.
Jobs all_jobs() {
  Jobs jobs;
  const Space& space = matrix_space();
  // The environments are the rows of a space of their own: those that some case completes.
  const Space environments = {{space.levels.begin(), space.levels.begin() + environment_parameters},
                              [&space](std::span<const int> head) {
                                Row row(space.levels.size(), not_chosen);
                                std::copy(head.begin(), head.end(), row.begin());
                                return space.allows(row);
                              }};
  for_each_row(environments, Row(environment_parameters, not_chosen), [&](const Row& head) {
    Row row(space.levels.size(), not_chosen);
    std::copy(head.begin(), head.end(), row.begin());
    if (complete(space, row, seed())) jobs[environment_of(row)] = {encode(row)};
  });
  return jobs;
}

const Jobs& jobs() {
  static const Jobs made = [] {
    if (const auto number = number_from("GYRE_TESTS_CASE")) {
      return Jobs{{environment_of(decode_row(*number)), {*number}}};
    }
    return is_full() ? all_jobs() : sampled_jobs();
  }();
  return made;
}

class Matrix : public testing::TestWithParam<int> {};

TEST_P(Matrix, EveryCaseIsRight) {
  std::size_t count = 0;
  std::size_t cases = 0;
  for (const auto& [environment, numbers] : jobs()) {
    if (case_of(decode_row(numbers.front())).ranks != GetParam()) continue;
    const bool full = is_full() && !number_from("GYRE_TESTS_CASE");
    run_job(full ? "all" : "cases", numbers,
            full ? std::chrono::hours(24) : std::chrono::minutes(2));
    if (HasFatalFailure()) return;
    ++count;
    cases += numbers.size();
  }
  std::cout << count << " jobs, " << cases << " cases, seed " << seed() << '\n';
}
INSTANTIATE_TEST_SUITE_P(Ranks, Matrix, testing::Values(1, 2, 3, 4, 5, 7, 8, 12, 16));

// A reference that finds nothing wrong proves nothing: one bit of any result, and it says so.
TEST(MatrixReference, SeesABitThatIsWrong) {
  for (int type = 0; type < type_count; ++type) {
    const auto own_type = static_cast<gyreDataType_t>(type);
    const std::vector<std::uint64_t> ones(
        3, is_float(own_type) ? encode_exactly(own_type, 1) : std::uint64_t{1});
    const std::uint64_t three = is_float(own_type) ? encode_exactly(own_type, 3) : 3;
    EXPECT_EQ(fault_in(Operation::sum, own_type, ones, three), "");
    for (std::size_t bit = 0; bit < 8 * size_of(own_type); ++bit) {
      EXPECT_NE(fault_in(Operation::sum, own_type, ones, three ^ std::uint64_t{1} << bit), "")
          << name_of(own_type) << ", bit " << bit;
    }
  }
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  using namespace gyre::test;
  if (argc > 1 && std::string_view(argv[1]) == "--full") {
    ::setenv("GYRE_TESTS_MATRIX_FULL", "1", 1);
  }
  return run(argc, argv, {{"cases", play_cases}, {"all", play_all}});
}

// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/settings.h"
#include "support/temporary_directory.h"

namespace gyre::log {
namespace {

using test::TemporaryDirectory;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

class LogTest : public testing::Test {
 protected:
  ~LogTest() override { EXPECT_TRUE(configure(Settings{})); }

  void configure_file(const std::string& level, const std::string& subsystems = "ALL") {
    Settings settings;
    settings.debug = level;
    settings.debug_subsys = subsystems;
    settings.debug_file = directory_.path("log");
    const auto configured = configure(settings);
    ASSERT_TRUE(configured) << configured.error().message;
  }
  [[nodiscard]] std::string logged() const { return directory_.read("log"); }

  TemporaryDirectory directory_;
};

TEST_F(LogTest, ALineSaysWhoSpeaks) {
  configure_file("INFO");
  info(Subsystem::init, "{} ranks", 4);
  EXPECT_THAT(logged(), MatchesRegex("[^: ]+:" + std::to_string(::getpid()) +
                                     ":[0-9]+ GYRE INFO \\[INIT\\] 4 ranks\n"));
}

TEST_F(LogTest, BeforeConfigurationWarningsGoToStderr) {
  testing::internal::CaptureStderr();
  info(Subsystem::net, "silent");
  warn(Subsystem::net, "heard");
  error(Subsystem::net, "heard too");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, AllOf(HasSubstr("GYRE WARN [NET] heard\n"),
                          HasSubstr("GYRE ERROR [NET] heard too\n"), Not(HasSubstr("silent"))));
}

TEST_F(LogTest, EachLevelIncludesTheQuieterOnes) {
  constexpr std::array names = {"WARN", "VERSION", "INFO", "TRACE"};
  constexpr std::array levels = {Level::warn, Level::version, Level::info, Level::trace};
  for (std::size_t set = 0; set < names.size(); ++set) {
    configure_file(names.at(set));
    for (std::size_t asked = 0; asked < levels.size(); ++asked) {
      EXPECT_EQ(enabled(levels.at(asked), Subsystem::coll), asked <= set)
          << names.at(asked) << " at " << names.at(set);
    }
  }
}

TEST_F(LogTest, SubsystemsAreChosenOrExcluded) {
  const auto shown = [this](const char* list, Subsystem subsystem) {
    configure_file("INFO", list);
    return enabled(Level::info, subsystem);
  };
  EXPECT_TRUE(shown("NET,SHM", Subsystem::shm));
  EXPECT_FALSE(shown("NET,SHM", Subsystem::coll));
  EXPECT_FALSE(shown("^NET,SHM", Subsystem::net));
  EXPECT_FALSE(shown("^NET,SHM", Subsystem::shm));
  EXPECT_TRUE(shown("^NET,SHM", Subsystem::coll));
  EXPECT_FALSE(shown("ALL,^NET", Subsystem::net));
  EXPECT_TRUE(shown("ALL,^NET", Subsystem::topo));
  // Expect: a subsystem is never excluded from warnings.
  EXPECT_TRUE(enabled(Level::warn, Subsystem::net));
}

TEST_F(LogTest, TheFileNameTakesHostAndProcess) {
  Settings settings;
  settings.debug_file = directory_.path("%h-%p-100%-%x");
  ASSERT_TRUE(configure(settings));
  warn(Subsystem::init, "here");
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  const std::string name = std::string(host.data()) + "-" + std::to_string(::getpid()) + "-100%-%x";
  EXPECT_THAT(directory_.read(name), HasSubstr("here"));
}

TEST_F(LogTest, AnUnusableFileIsAnError) {
  Settings settings;
  settings.debug_file = directory_.path("no/such/folder");
  const auto configured = configure(settings);
  ASSERT_FALSE(configured);
  EXPECT_THAT(configured.error().message,
              AllOf(HasSubstr("GYRE_DEBUG_FILE"), HasSubstr("no/such/folder")));
}

TEST_F(LogTest, TextFromElsewhereCannotForgeALine) {
  configure_file("WARN");
  warn(Subsystem::net, "peer says: a\nhost:1:1 GYRE WARN b\x1b[2J\r");
  const auto lines = lines_of(logged());
  ASSERT_EQ(lines.size(), 2);
  EXPECT_THAT(lines[1], HasSubstr("GYRE WARN [NET] host:1:1 GYRE WARN b?[2J?"));
}

TEST_F(LogTest, LinesOfThreadsStayWhole) {
  configure_file("INFO");
  constexpr int threads = 4;
  constexpr int lines_each = 200;
  {
    std::vector<std::jthread> writers;
    for (int thread = 0; thread < threads; ++thread) {
      writers.emplace_back([thread] {
        for (int line = 0; line < lines_each; ++line) {
          info(Subsystem::coll, "{}", std::string(100, static_cast<char>('a' + thread)));
        }
      });
    }
  }
  const auto lines = lines_of(logged());
  EXPECT_EQ(lines.size(), threads * lines_each);
  for (const std::string& line : lines) {
    EXPECT_THAT(line, MatchesRegex(".*\\[COLL\\] (a+|b+|c+|d+)"));
  }
}

TEST_F(LogTest, LoggingKeepsErrno) {
  configure_file("WARN");
  errno = ENOSPC;
  warn(Subsystem::shm, "full");
  EXPECT_EQ(errno, ENOSPC);
}

TEST_F(LogTest, TheReportNamesValueAndOrigin) {
  configure_file("INFO");
  const std::array<const char*, 2> environment = {"GYRE_SLOTS=9", nullptr};
  const auto settings = read_settings(environment.data(), directory_.path("none"), nullptr);
  ASSERT_TRUE(settings);
  report(*settings);
  EXPECT_THAT(logged(), AllOf(HasSubstr("[ENV] GYRE_SLOTS=\"9\" from environment, default \"0\""),
                              HasSubstr("[ENV] GYRE_TIMEOUT=\"1800\" from default")));
}

}  // namespace
}  // namespace gyre::log

// SPDX-License-Identifier: Apache-2.0
#include "base/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/settings_table.h"
#include "support/temporary_directory.h"

namespace gyre {
namespace {

using test::TemporaryDirectory;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Reads settings from made-up sources only: no file and no variable of the machine is seen.
class SettingsTest : public testing::Test {
 protected:
  Result<Settings> read(const std::vector<std::string>& variables) {
    std::vector<const char*> environment;
    for (const std::string& variable : variables) {
      environment.push_back(variable.c_str());
    }
    environment.push_back(nullptr);
    warnings_.clear();
    return read_settings(environment.data(), directory_.path("system.conf"), &warnings_);
  }

  // The text of the error that `variable` must give.
  std::string error_of(const std::string& variable) {
    const auto settings = read({variable});
    if (settings) {
      return "no error";
    }
    EXPECT_EQ(settings.error().code, Code::invalid_argument);
    return settings.error().message;
  }

  static SettingReport find(const Settings& settings, std::string_view name) {
    for (const SettingReport& row : report_settings(settings)) {
      if (row.name == name) {
        return row;
      }
    }
    ADD_FAILURE() << name << " is not reported";
    return {};
  }

  TemporaryDirectory directory_;
  std::vector<std::string> warnings_;
};

TEST_F(SettingsTest, WithoutSourcesEverythingIsDefault) {
  const auto settings = read({"PATH=/bin", "malformed", "=x"});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_EQ(settings->timeout_s, 1800);
  for (const SettingReport& row : report_settings(*settings)) {
    EXPECT_EQ(row.origin, Origin::preset) << row.name;
    EXPECT_EQ(row.value, row.preset) << row.name;
  }
}

TEST_F(SettingsTest, ANullEnvironmentIsEmpty) {
  EXPECT_TRUE(read_settings(nullptr, directory_.path("none"), nullptr));
}

TEST_F(SettingsTest, EachKindOfValueIsRead) {
  const auto settings =
      read({"GYRE_DEBUG=info", "GYRE_DEBUG_SUBSYS=^net,Coll", "GYRE_TIMEOUT=0", "GYRE_CHUNK=256k",
            "GYRE_SPIN_US=-1", "GYRE_ALGO=RING", "GYRE_PORT_RANGE=700-701"});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->debug, "INFO");
  EXPECT_EQ(settings->debug_subsys, "^NET,COLL");
  EXPECT_EQ(settings->timeout_s, 0);
  EXPECT_EQ(settings->chunk_bytes, 256 * 1024);
  EXPECT_EQ(settings->spin_us, -1);
  EXPECT_EQ(settings->algorithm, "ring");
  EXPECT_EQ(settings->port_range, "700-701");
  EXPECT_EQ(find(*settings, "GYRE_CHUNK").value, "256K");
}

TEST_F(SettingsTest, ABadValueNamesVariableValueAndRange) {
  EXPECT_THAT(error_of("GYRE_TIMEOUT=soon"),
              AllOf(HasSubstr("GYRE_TIMEOUT"), HasSubstr("\"soon\""), HasSubstr("0 to"),
                    HasSubstr("seconds"), HasSubstr("environment")));
  EXPECT_THAT(error_of("GYRE_CHUNK=1T"), AllOf(HasSubstr("\"1T\""), HasSubstr("0 to 64M bytes")));
  EXPECT_THAT(error_of("GYRE_DEBUG=LOUD"), HasSubstr("WARN, VERSION, INFO, TRACE"));
  EXPECT_THAT(error_of("GYRE_DEBUG_SUBSYS=NET,NOPE"), HasSubstr("TUNING"));
  EXPECT_THAT(error_of("GYRE_PORT_RANGE=9-1"), HasSubstr("first-last"));
  EXPECT_THAT(error_of("GYRE_INIT_TIMEOUT=0"), HasSubstr("1 to"));
}

TEST_F(SettingsTest, SecretsAreNeverShown) {
  const std::string secret(64, 'b');
  const auto settings = read({"GYRE_JOB_SECRET=" + secret});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->job_secret, secret);
  EXPECT_EQ(find(*settings, "GYRE_JOB_SECRET").value, "(set)");
  EXPECT_THAT(error_of("GYRE_JOB_SECRET=tell-nobody"),
              AllOf(HasSubstr("64 hex digits"), Not(HasSubstr("tell-nobody"))));
}

TEST_F(SettingsTest, AnUnknownNameIsAWarningWithTheNearestName) {
  ASSERT_TRUE(read({"GYRE_TIMEOTU=5", "GYRE_COMPLETELY_ELSE=1"}));
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("GYRE_TIMEOTU"), HasSubstr("GYRE_TIMEOUT?")),
                                     Not(HasSubstr("Did you mean"))));
}

TEST_F(SettingsTest, VariablesOfProgramsAroundTheLibraryAreKnown) {
  ASSERT_TRUE(read({"GYRE_TESTS_RANKS=4", "GYRE_RANK=0", "GYRE_NRANKS=2", "GYRE_CONF_FILE="}));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(SettingsTest, EnvironmentBeatsUserFileBeatsSystemFile) {
  directory_.write("system.conf", "GYRE_TIMEOUT=1\nGYRE_SLOTS=1\nGYRE_CHANNELS=1\n");
  const std::string user =
      directory_.write("user.conf", "# mine\n\n  GYRE_SLOTS = 2  # two\r\nGYRE_CHANNELS=2\n");
  const auto settings = read({"GYRE_CHANNELS=3", "GYRE_CONF_FILE=" + user});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->timeout_s, 1);
  EXPECT_EQ(settings->slots, 2);
  EXPECT_EQ(settings->channels, 3);
  EXPECT_EQ(find(*settings, "GYRE_TIMEOUT").origin, Origin::system_file);
  EXPECT_EQ(find(*settings, "GYRE_SLOTS").origin, Origin::user_file);
  EXPECT_EQ(find(*settings, "GYRE_CHANNELS").origin, Origin::environment);
  EXPECT_EQ(find(*settings, "GYRE_CHUNK").origin, Origin::preset);
}

TEST_F(SettingsTest, AnEmptyVariableUndoesAFile) {
  directory_.write("system.conf", "GYRE_TIMEOUT=7\nGYRE_ALGO=ring\n");
  const auto settings = read({"GYRE_TIMEOUT=", "GYRE_ALGO="});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->timeout_s, 1800);
  EXPECT_EQ(settings->algorithm, "");
}

TEST_F(SettingsTest, TheHomeFileIsReadUnlessAnotherIsNamed) {
  directory_.write(".gyre.conf", "GYRE_SLOTS=5\n");
  const std::string other = directory_.write("other.conf", "GYRE_CHANNELS=6\n");
  const std::string home = "HOME=" + directory_.path("");
  EXPECT_EQ(read({home})->slots, 5);
  EXPECT_EQ(read({home, "GYRE_CONF_FILE=" + other})->slots, 0);
  EXPECT_EQ(read({home, "GYRE_CONF_FILE=" + other})->channels, 6);
}

TEST_F(SettingsTest, FaultsInFilesNameFileAndLine) {
  directory_.write("system.conf", "GYRE_SLOTS=1\nGYRE_SLOTZ=2\nGYRE_CHUNK=big\n");
  auto settings = read({});
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, AllOf(HasSubstr("\"big\""), HasSubstr("system.conf:3")));
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("system.conf:2"), HasSubstr("GYRE_SLOTS?"))));

  directory_.write("system.conf", "nonsense\n");
  settings = read({});
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, AllOf(HasSubstr("system.conf:1"), HasSubstr("nonsense")));
}

TEST_F(SettingsTest, ANamedFileMustExist) {
  EXPECT_THAT(error_of("GYRE_CONF_FILE=" + directory_.path("absent.conf")),
              AllOf(HasSubstr("absent.conf"), HasSubstr("No such file"), HasSubstr("unset")));
}

TEST_F(SettingsTest, EveryRowDescribesItselfAndAcceptsItsDefault) {
  for (const SettingRow& row : setting_table()) {
    EXPECT_TRUE(row.name.starts_with("GYRE_")) << row.name;
    EXPECT_TRUE(row.description.ends_with(".")) << row.name;
    EXPECT_FALSE(range_text(row).empty()) << row.name;
    Settings settings;
    const auto assigned = assign(row, value_text(row, settings), settings);
    EXPECT_TRUE(assigned) << assigned.error().message;
  }
}

}  // namespace
}  // namespace gyre

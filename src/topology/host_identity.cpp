// SPDX-License-Identifier: Apache-2.0
// Bytes of a serialised identity, integers in little-endian order, texts as u16 length and bytes:
//   u8 version (1), text host_id, u64 network_namespace, u32 user, text host_name, text cpus,
//   i32 cpu, i64 pid, u64 pid_namespace
#include "topology/host_identity.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <fstream>
#include <optional>
#include <type_traits>

#include <fmt/core.h>

namespace gyre::topology {
namespace {

constexpr std::uint8_t layout_version = 1;
constexpr std::size_t longest_text = 4096;

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

std::uint64_t inode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

std::string read_host_name() {
  std::array<char, 256> name{};
  // The last byte stays 0 when the kernel cuts the name.
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// "Cpus_allowed_list:\t0-3,8" of /proc/self/status.
std::string read_cpus(std::string_view root) {
  constexpr std::string_view key = "Cpus_allowed_list:";
  std::ifstream file(fmt::format("{}/proc/self/status", root));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      const std::size_t start = line.find_first_not_of(" \t", key.size());
      return start == std::string::npos ? "" : line.substr(start);
    }
  }
  return {};
}

class Writer {
 public:
  template <std::integral T>
  void integer(T value) {
    auto rest = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(rest) >> (8 * i) & 0xff));
    }
  }
  void text(std::string_view text) {
    const std::string_view kept = text.substr(0, longest_text);
    integer(static_cast<std::uint16_t>(kept.size()));
    for (const char letter : kept) {
      bytes_.push_back(static_cast<std::byte>(letter));
    }
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// The first read past the end makes it invalid for good.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::integral T>
  T integer() {
    std::uint64_t value = 0;
    const std::span<const std::byte> taken = take(sizeof(T));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      value |= std::to_integer<std::uint64_t>(taken[i]) << (8 * i);
    }
    return static_cast<T>(value);
  }
  std::string text() {
    const auto length = integer<std::uint16_t>();
    valid_ = valid_ && length <= longest_text;
    const std::span<const std::byte> taken = take(length);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  [[nodiscard]] bool complete() const { return valid_ && rest_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t count) {
    if (!valid_ || count > rest_.size()) {
      valid_ = false;
      return {};
    }
    const std::span<const std::byte> taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  std::span<const std::byte> rest_;
  bool valid_ = true;
};

// "3" or "0-3".
std::optional<std::size_t> count_range(std::string_view range) {
  const char* const end = range.data() + range.size();
  std::size_t first = 0;
  auto parsed = std::from_chars(range.data(), end, first);
  std::size_t last = first;
  if (parsed.ec == std::errc{} && parsed.ptr != end && *parsed.ptr == '-') {
    parsed = std::from_chars(parsed.ptr + 1, end, last);
  }
  if (parsed.ec != std::errc{} || parsed.ptr != end || last < first) {
    return std::nullopt;
  }
  return last - first + 1;
}

}  // namespace

HostIdentity read_host_identity(std::string_view host_id_override, std::string_view root) {
  HostIdentity identity;
  identity.host_name = read_host_name();
  identity.host_id = host_id_override;
  if (identity.host_id.empty()) {
    identity.host_id = first_word(fmt::format("{}/proc/sys/kernel/random/boot_id", root));
  }
  if (identity.host_id.empty()) {
    identity.host_id = identity.host_name;
  }
  identity.network_namespace = inode_of(fmt::format("{}/proc/self/ns/net", root));
  identity.pid_namespace = inode_of(fmt::format("{}/proc/self/ns/pid", root));
  identity.user = ::getuid();
  identity.cpus = read_cpus(root);
  identity.cpu = ::sched_getcpu();
  identity.pid = ::getpid();
  return identity;
}

bool can_share_memory(const HostIdentity& a, const HostIdentity& b) {
  return why_not_shared(a, b).empty();
}

std::string why_not_shared(const HostIdentity& a, const HostIdentity& b) {
  if (a.host_id != b.host_id) {
    return fmt::format(
        "They are on different hosts: {} (id {}) and {} (id {}). If they are not, the ids differ "
        "because GYRE_HOST_ID is set on one of them.",
        a.host_name, a.host_id, b.host_name, b.host_id);
  }
  if (a.network_namespace != b.network_namespace) {
    return fmt::format(
        "They are on one host ({}) but in different network namespaces ({} and {}), so neither can "
        "reach the other's sockets. Start the containers with one network namespace (for example "
        "--network=host).",
        a.host_name, a.network_namespace, b.network_namespace);
  }
  return {};
}

std::size_t count_cpus(std::string_view list) {
  std::size_t total = 0;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const auto count = count_range(list.substr(0, comma));
    if (!count) {
      return 0;
    }
    total += *count;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return total;
}

std::vector<std::byte> serialise(const HostIdentity& identity) {
  Writer writer;
  writer.integer(layout_version);
  writer.text(identity.host_id);
  writer.integer(identity.network_namespace);
  writer.integer(identity.user);
  writer.text(identity.host_name);
  writer.text(identity.cpus);
  writer.integer(identity.cpu);
  writer.integer(identity.pid);
  writer.integer(identity.pid_namespace);
  return writer.take();
}

Result<HostIdentity> parse_host_identity(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  if (const auto version = reader.integer<std::uint8_t>(); version != layout_version) {
    return fail(
        Code::remote_error,
        fmt::format("A peer's host identity has layout {}, this library reads {}. All ranks "
                    "must run the same version of Gyre.",
                    version, layout_version));
  }
  HostIdentity identity;
  identity.host_id = reader.text();
  identity.network_namespace = reader.integer<std::uint64_t>();
  identity.user = reader.integer<std::uint32_t>();
  identity.host_name = reader.text();
  identity.cpus = reader.text();
  identity.cpu = reader.integer<std::int32_t>();
  identity.pid = reader.integer<std::int64_t>();
  identity.pid_namespace = reader.integer<std::uint64_t>();
  if (!reader.complete()) {
    return fail(
        Code::remote_error,
        fmt::format("A peer's host identity of {} bytes is cut short or too long. All ranks "
                    "must run the same version of Gyre.",
                    bytes.size()));
  }
  return identity;
}

}  // namespace gyre::topology

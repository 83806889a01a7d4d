// SPDX-License-Identifier: Apache-2.0
// Plans written by hand, as files (docs/plan-files.md).
#pragma once

#include <string>
#include <vector>

namespace gyre::test {

inline std::string slice(const std::string& place, int block, int peer = -1) {
  return "{\"" + place + "\": " + std::to_string(block) +
         (peer < 0 ? "" : ", \"peer\": " + std::to_string(peer)) + "}";
}

inline std::string joined(const std::vector<std::string>& items, const std::string& separator) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : separator) + item;
  return text;
}

inline std::string combine(const std::vector<std::string>& from, const std::vector<std::string>& to,
                           bool complete = false) {
  return "{\"combine\": [" + joined(from, ", ") + "], \"to\": [" + joined(to, ", ") + "]" +
         (complete ? ", \"complete\": true}" : "}");
}

inline std::string with_peer(const std::string& step, int peer) {
  return "{\"" + step + "\": " + std::to_string(peer) + "}";
}

using Program = std::vector<std::string>;  // of one rank, a step each

inline std::string plan(const std::string& name, const std::string& heading,
                        const std::vector<Program>& programs) {
  std::vector<std::string> texts;
  for (const Program& program : programs) texts.push_back("[" + joined(program, ",\n  ") + "]");
  return "{\"gyre_plan\": 1, \"name\": \"" + name + "\", " + heading + ",\n \"programs\": [\n" +
         joined(texts, ",\n") + "]}\n";
}

inline std::string heading(const std::string& collective, const std::string& protocol, int ranks,
                           int blocks, int slots, bool in_place_safe = true, int root = -1) {
  return "\"collective\": \"" + collective + "\", \"protocol\": \"" + protocol +
         "\", \"ranks\": " + std::to_string(ranks) + ", \"blocks\": " + std::to_string(blocks) +
         ", \"slots\": " + std::to_string(slots) +
         ", \"in_place_safe\": " + (in_place_safe ? "true" : "false") +
         (root < 0 ? "" : ", \"root\": " + std::to_string(root));
}

}  // namespace gyre::test

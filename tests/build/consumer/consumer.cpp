// SPDX-License-Identifier: Apache-2.0
#include <gyre/gyre.hpp>
#include <iostream>

int main() {
  const int version = gyre::library_version();
  if (version != GYRE_VERSION_CODE) {
    std::cerr << "the library is " << version << ", the header " << GYRE_VERSION_CODE << '\n';
    return 1;
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Has nothing of its own: what tests include is precompiled for it (CMakeLists.txt).
int main() {
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre.h>
#include <stdio.h>

int main(void) {
  int version = 0;
  if (gyreGetVersion(&version) != gyreSuccess || version != GYRE_VERSION_CODE) {
    printf("gyreGetVersion gives %d, the header says %d\n", version, GYRE_VERSION_CODE);
    return 1;
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Who is linked to whom on the control channel: a circulant graph, rank r with r + 2^k and r - 2^k.
// At most 2 * log2(n) links a rank, a diameter below log2(n), and no single rank (nor, from five
// ranks up, any two) whose loss cuts the others apart.
#pragma once

#include <vector>

namespace gyre::bootstrap {

// 1, 2, 4 ... below size.
std::vector<int> overlay_offsets(int size);
// Ranks linked to `rank`, ascending.
std::vector<int> overlay_neighbours(int rank, int size);
// Of the linked pair, does `rank` dial (or does `peer`)?
bool overlay_dials(int rank, int peer, int size);

}  // namespace gyre::bootstrap

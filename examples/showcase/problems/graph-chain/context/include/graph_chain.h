// The function to implement.
#pragma once

#include <cstdint>

// Runs `steps` steps on a ring of `size` cells and writes the cells' last values to `ring`. Pointers are to device
// memory. All arithmetic is modulo 2^32. Step t = 0 .. steps - 1 takes the cells x to x':
//
//     y[i]  = rotate_left(x[i] * 2654435761 + x[(i + 1) % size], 13) XOR x[(i + size - 1) % size]
//     s     = y[0] + y[1] + ... + y[size - 1]
//     x'[i] = (y[i] + s) * 2246822519 + t
//
// `start` holds the first x and stays as it is; `ring` holds arbitrary bytes on entry and does not overlap it.
// size >= 0, steps >= 0; with no steps `ring` becomes a copy of `start`.
void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps);

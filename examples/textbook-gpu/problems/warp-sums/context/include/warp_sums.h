// The function to implement.
#pragma once

// sums[g] = values[32 * g] + ... + values[32 * g + 31] modulo 2^32; the last group ends at `count`.
void warp_sums(const unsigned* values, unsigned* sums, int count);

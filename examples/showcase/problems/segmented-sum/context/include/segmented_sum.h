// The function to implement.
#pragma once

// sums[s] = values[offsets[s]] + ... + values[offsets[s + 1] - 1] for s = 0 .. segments - 1; 0 for an empty segment.
// Pointers are to device memory. `offsets` has segments + 1 elements that never decrease, from 0 up to `count`, the
// number of values. count >= 0, segments >= 0. `sums` holds arbitrary bytes on entry; nothing overlaps.
void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums);

// The function to implement.
#pragma once

// Writes those of values[0] .. values[count - 1] that are greater than `threshold` to the start of `kept`, in their
// order, and how many there are to *kept_count. NaN is greater than nothing, and nothing is greater than NaN. Pointers
// are to device memory, kept_count too; nothing overlaps. `kept` has room for `count` values; what lies behind those
// kept stays as it was. count >= 0.
void compact(const float* values, int count, float threshold, float* kept, int* kept_count);

// The function to implement.
#pragma once

// bins[v] = how often v occurs in values[0 .. count), for v in [0, bin_count); other values are left out.
void clipped_histogram(const int* values, int count, unsigned* bins, int bin_count);

#include "clipped_histogram.h"

void clipped_histogram(const int* values, int count, unsigned* bins, int bin_count) {
    std::vector<unsigned> counts(bin_count);
    for (int i = 0; i < count; ++i)
        if (values[i] >= 0 && values[i] < bin_count) counts[values[i]]++;
    std::copy(counts.begin(), counts.end(), bins);
}

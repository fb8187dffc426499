#include <algorithm>

#include "clipped_histogram.h"

void clipped_histogram(const int* values, int count, unsigned* bins, int bin_count) {
    std::fill(bins, bins + bin_count, 0u);
    for (const int* value = values; value != values + count; ++value) {
        if (static_cast<unsigned>(*value) < static_cast<unsigned>(bin_count)) ++bins[*value];
    }
}

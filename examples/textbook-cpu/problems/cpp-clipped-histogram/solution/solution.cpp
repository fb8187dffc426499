#include "clipped_histogram.h"

void clipped_histogram(const int* values, int count, unsigned* bins, int bin_count) {
    for (int bin = 0; bin < bin_count; ++bin) bins[bin] = 0;
    for (int i = 0; i < count; ++i) {
        if (values[i] >= 0 && values[i] < bin_count) ++bins[values[i]];
    }
}

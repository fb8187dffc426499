#include <algorithm>

#include "convolve_1d.h"

void convolve_1d(const float* signal, const float* weights, float* result, int count, int radius) {
    for (int i = 0; i < count; ++i) {
        const int first = std::max(0, i - radius), last = std::min(count - 1, i + radius);
        float sum = 0.0f;
        for (int place = first; place <= last; ++place) sum += weights[i + radius - place] * signal[place];
        result[i] = sum;
    }
}

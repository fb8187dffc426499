#include "convolve_1d.h"

void convolve_1d(const float* signal, const float* weights, float* result, int count, int radius) {
    for (int i = 0; i < count; ++i) {
        float sum = 0;
        for (int j = -radius; j <= radius; ++j)
            if (i + j >= 0 && i + j < count) sum += weights[j + radius] * signal[i + j];
        result[i] = sum;
    }
}

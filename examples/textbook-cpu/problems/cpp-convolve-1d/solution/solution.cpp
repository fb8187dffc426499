#include "convolve_1d.h"

void convolve_1d(const float* signal, const float* weights, float* result, int count, int radius) {
    for (int i = 0; i < count; ++i) {
        float sum = 0.0f;
        for (int j = 0; j <= 2 * radius; ++j) {
            const int place = i + radius - j;
            if (place >= 0 && place < count) sum += weights[j] * signal[place];
        }
        result[i] = sum;
    }
}

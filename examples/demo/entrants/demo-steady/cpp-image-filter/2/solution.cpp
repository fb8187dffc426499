#include "image_filter.h"

// Mirrors the image at its border.
static int reflect(int value, int limit) {
    if (value < 0) value = -value - 1;
    if (value >= limit) value = 2 * limit - 1 - value;
    return value < 0 ? 0 : value >= limit ? limit - 1 : value;
}

void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            for (int i = 0; i < 25; ++i) {
                sum += weights[i] * image[reflect(y + i / 5 - 2, height) * width + reflect(x + i % 5 - 2, width)];
            }
            out[y * width + x] = sum;
        }
    }
}

#include "image_filter.h"

static int clamp(int value, int limit) {
    return value < 0 ? 0 : value >= limit ? limit - 1 : value;
}

void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            for (int dy = -2; dy <= 2; ++dy) {
                const float* row = image + static_cast<long>(clamp(y + dy, height)) * width;
                for (int dx = -2; dx <= 2; ++dx) {
                    sum += weights[(dy + 2) * 5 + dx + 2] * row[clamp(x + dx, width)];
                }
            }
            out[static_cast<long>(y) * width + x] = sum;
        }
    }
}

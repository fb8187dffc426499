#include <algorithm>

#include "image_filter.h"

// The inside needs no clamping; only the two outermost rows and columns take the slow way.
static float inside(const float* center, long width, const float* weights) {
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; ++dy, weights += 5) {
        const float* row = center + dy * width;
        sum += (weights[0] * row[-2] + weights[1] * row[-1]) + (weights[2] * row[0] + weights[3] * row[1]) + weights[4] * row[2];
    }
    return sum;
}

static float at_border(const float* image, int width, int height, const float* weights, int x, int y) {
    float sum = 0.0f;
    for (int i = 0; i < 25; ++i) {
        const int row = std::clamp(y + i / 5 - 2, 0, height - 1), column = std::clamp(x + i % 5 - 2, 0, width - 1);
        sum += weights[i] * image[static_cast<long>(row) * width + column];
    }
    return sum;
}

void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    for (int y = 0; y < height; ++y) {
        const bool middle_row = y >= 2 && y < height - 2;
        for (int x = 0; x < width; ++x) {
            const long place = static_cast<long>(y) * width + x;
            const bool fast = middle_row && x >= 2 && x < width - 2;
            out[place] = fast ? inside(image + place, width, weights) : at_border(image, width, height, weights, x, y);
        }
    }
}

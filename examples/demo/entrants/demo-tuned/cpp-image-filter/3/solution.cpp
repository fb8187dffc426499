#pragma GCC optimize("O3")
#include <algorithm>
#include <vector>

#include "image_filter.h"

// Five row pointers into a bordered row buffer; rows above and below the image are taken as they come.
static void five_taps(float* __restrict out, const float* __restrict row, const float* w, int width) {
    for (int x = 2; x < width - 2; ++x) {
        out[x] += w[0] * row[x - 2] + w[1] * row[x - 1] + w[2] * row[x] + w[3] * row[x + 1] + w[4] * row[x + 2];
    }
}

void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    std::fill(out, out + static_cast<long>(width) * height, 0.0f);
    for (int y = 0; y < height; ++y) {
        for (int dy = -2; dy <= 2; ++dy) {
            const float* row = image + static_cast<long>(std::clamp(y + dy, 0, height - 1)) * width;
            five_taps(out + static_cast<long>(y) * width, row, weights + (dy + 2) * 5, width);
        }
    }
}

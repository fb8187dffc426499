#pragma GCC optimize("O3")
#include <algorithm>
#include <vector>

#include "image_filter.h"

// Row by row: five bordered source rows, and one pass over the row for each of them.
static void fill_bordered(const float* row, int width, float* target) {
    target[0] = target[1] = row[0];
    std::copy(row, row + width, target + 2);
    target[width + 2] = target[width + 3] = row[width - 1];
}

static void add_row(float* __restrict out, const float* __restrict source, const float* weights, int width) {
    const float w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3], w4 = weights[4];
    for (int x = 0; x < width; ++x) {
        out[x] += w0 * source[x] + w1 * source[x + 1] + w2 * source[x + 2] + w3 * source[x + 3] + w4 * source[x + 4];
    }
}

void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    std::vector<float> source(width + 4);
    std::fill(out, out + static_cast<long>(width) * height, 0.0f);
    for (int row = -2; row < height + 2; ++row) {
        fill_bordered(image + static_cast<long>(std::clamp(row, 0, height - 1)) * width, width, source.data());
        for (int dy = -2; dy <= 2; ++dy) {
            const int y = row - dy;
            if (y >= 0 && y < height) add_row(out + static_cast<long>(y) * width, source.data(), weights + (dy + 2) * 5, width);
        }
    }
}

#include <algorithm>
#include <vector>

#include "image_filter.h"

// The clamped columns are worked out once for all rows.
void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    std::vector<int> columns(width + 4);
    for (int x = 0; x < width + 4; ++x) columns[x] = std::clamp(x - 2, 0, width - 1);
    for (int y = 0; y < height; ++y) {
        const float* rows[5];
        for (int i = 0; i < 5; ++i) rows[i] = image + static_cast<long>(std::clamp(y + i - 2, 0, height - 1)) * width;
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            for (int i = 0; i < 25; ++i) sum += weights[i] * rows[i / 5][columns[x + i % 5]];
            out[static_cast<long>(y) * width + x] = sum;
        }
    }
}

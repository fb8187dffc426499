#include <algorithm>

#include "image_filter.h"

void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            float sum = 0.0f;
            for (int i = 0; i < 5; ++i) {
                const int row = std::clamp(y + i - 2, 0, height - 1);
                for (int j = 0; j < 5; ++j) {
                    const int column = std::clamp(x + j - 2, 0, width - 1);
                    sum += weights[5 * i + j] * image[static_cast<long>(row) * width + column];
                }
            }
            *out++ = sum;
        }
    }
}

#include <algorithm>

#include "image_filter.h"

// Mirrors the weights, as a convolution in the narrow sense would.
void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            float sum = 0;
            for (int i = 0; i < 25; i++) {
                int row = std::clamp(y + i / 5 - 2, 0, height - 1);
                int column = std::clamp(x + i % 5 - 2, 0, width - 1);
                sum += weights[24 - i] * image[row * width + column];
            }
            out[y * width + x] = sum;
        }
    }
}

#include <algorithm>

#include "image_filter.h"

// Takes width for height and the other way round.
void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    for (int x = 0; x < width; x++) {
        for (int y = 0; y < height; y++) {
            float sum = 0;
            for (int i = 0; i < 25; i++) {
                int row = std::clamp(y + i % 5 - 2, 0, height - 1);
                int column = std::clamp(x + i / 5 - 2, 0, width - 1);
                sum += weights[i] * image[row * width + column];
            }
            out[y * width + x] = sum;
        }
    }
}

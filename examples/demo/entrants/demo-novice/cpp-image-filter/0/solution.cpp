#include "image_filter.h"

// Leaves the border as it is.
void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    for (int i = 0; i < width * height; i++) out[i] = image[i];
    for (int y = 2; y < height - 2; y++) {
        for (int x = 2; x < width - 2; x++) {
            float sum = 0;
            for (int i = 0; i < 25; i++) sum += weights[i] * image[(y + i / 5 - 2) * width + x + i % 5 - 2];
            out[y * width + x] = sum;
        }
    }
}

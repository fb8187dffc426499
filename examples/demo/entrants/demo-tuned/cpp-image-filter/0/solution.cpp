#include <algorithm>
#include <vector>

#include "image_filter.h"

// A copy with a repeated border needs no tests of coordinates; four pixels at a time.
typedef float Lanes __attribute__((vector_size(16), aligned(4), may_alias));

static std::vector<float> bordered(const float* image, int width, int height) {
    const long stride = width + 8;
    std::vector<float> copy(stride * (height + 4));
    for (int y = 0; y < height + 4; ++y) {
        const float* row = image + static_cast<long>(std::clamp(y - 2, 0, height - 1)) * width;
        float* target = copy.data() + y * stride;
        std::fill(target, target + 2, row[0]);
        std::copy(row, row + width, target + 2);
        std::fill(target + 2 + width, target + stride, row[width - 1]);
    }
    return copy;
}

static Lanes four_pixels(const float* corner, const float* weights, long stride) {
    Lanes sum = {};
    for (int dy = 0; dy < 5; ++dy) {
        for (int dx = 0; dx < 5; ++dx) {
            sum += *reinterpret_cast<const Lanes*>(corner + dy * stride + dx) * weights[dy * 5 + dx];
        }
    }
    return sum;
}

void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    const std::vector<float> copy = bordered(image, width, height);
    const long stride = width + 8;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; x += 4) {
            const Lanes pixels = four_pixels(copy.data() + y * stride + x, weights, stride);
            for (int lane = 0; lane < 4 && x + lane < width; ++lane) out[static_cast<long>(y) * width + x + lane] = pixels[lane];
        }
    }
}

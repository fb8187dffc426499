#include "image_filter.h"

namespace {

struct Image {
    const float* pixels;
    int width, height;

    float at(int x, int y) const {
        x = x < 0 ? 0 : x < width ? x : width - 1;
        y = y < 0 ? 0 : y < height ? y : height - 1;
        return pixels[static_cast<long>(y) * width + x];
    }
};

float weighted(const Image& image, const float* weights, int x, int y) {
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) sum += image.at(x + dx, y + dy) * *weights++;
    }
    return sum;
}

}  // namespace

void filter5x5(const float* image, int width, int height, const float* weights, float* out) {
    const Image source{image, width, height};
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) *out++ = weighted(source, weights, x, y);
    }
}

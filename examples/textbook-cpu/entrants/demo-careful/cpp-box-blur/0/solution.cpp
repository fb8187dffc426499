#include <algorithm>
#include <vector>

#include "box_blur.h"

void box_blur(const std::uint8_t* image, std::uint8_t* blurred, int width, int height, int radius) {
    const int across = width + 1;
    std::vector<long> sums(static_cast<std::size_t>(across) * (height + 1), 0);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            sums[(y + 1) * across + x + 1] =
                image[y * width + x] + sums[y * across + x + 1] + sums[(y + 1) * across + x] - sums[y * across + x];
        }
    }
    for (int y = 0; y < height; ++y) {
        const int top = std::max(0, y - radius), bottom = std::min(height, y + radius + 1);
        for (int x = 0; x < width; ++x) {
            const int left = std::max(0, x - radius), right = std::min(width, x + radius + 1);
            const long sum = sums[bottom * across + right] - sums[top * across + right] - sums[bottom * across + left] +
                             sums[top * across + left];
            const long pixels = static_cast<long>(bottom - top) * (right - left);
            blurred[y * width + x] = static_cast<std::uint8_t>((2 * sum + pixels) / (2 * pixels));
        }
    }
}

#include <algorithm>

#include "box_blur.h"

void box_blur(const std::uint8_t* image, std::uint8_t* blurred, int width, int height, int radius) {
    for (int y = 0; y < height; ++y) {
        const int top = std::max(y - radius, 0), bottom = std::min(y + radius, height - 1);
        for (int x = 0; x < width; ++x) {
            const int left = std::max(x - radius, 0), right = std::min(x + radius, width - 1);
            int sum = 0;
            for (int row = top; row <= bottom; ++row) {
                for (int column = left; column <= right; ++column) sum += image[row * width + column];
            }
            const int pixels = (right - left + 1) * (bottom - top + 1);
            blurred[y * width + x] = static_cast<std::uint8_t>((2 * sum + pixels) / (2 * pixels));
        }
    }
}

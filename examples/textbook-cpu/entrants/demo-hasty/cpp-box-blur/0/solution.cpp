#include <algorithm>

#include "box_blur.h"

void box_blur(const std::uint8_t* image, std::uint8_t* blurred, int width, int height, int radius) {
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            int sum = 0, pixels = 0;
            for (int row = std::max(0, y - radius); row < std::min(height, y + radius + 1); ++row)
                for (int column = std::max(0, x - radius); column < std::min(width, x + radius + 1); ++column, ++pixels)
                    sum += image[row * width + column];
            blurred[y * width + x] = static_cast<std::uint8_t>((sum + sum + pixels) / (pixels + pixels));
        }
}

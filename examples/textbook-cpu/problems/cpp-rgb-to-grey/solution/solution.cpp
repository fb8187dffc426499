#include "rgb_to_grey.h"

void rgb_to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride) {
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x, rgb += 3) {
            const int sum = 77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2];
            grey[y * stride + x] = static_cast<std::uint8_t>((sum + 128) / 256);
        }
    }
}

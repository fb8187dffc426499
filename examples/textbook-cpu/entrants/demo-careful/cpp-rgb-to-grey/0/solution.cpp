#include "rgb_to_grey.h"

void rgb_to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride) {
    for (int y = 0; y < height; ++y) {
        std::uint8_t* row = grey + static_cast<std::ptrdiff_t>(y) * stride;
        for (int x = 0; x < width; ++x) {
            const unsigned sum = 77u * rgb[0] + 150u * rgb[1] + 29u * rgb[2] + 128u;
            row[x] = static_cast<std::uint8_t>(sum >> 8);
            rgb += 3;
        }
    }
}

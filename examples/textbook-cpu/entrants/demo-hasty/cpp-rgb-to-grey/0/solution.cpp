#include "rgb_to_grey.h"

void rgb_to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride) {
    for (int i = 0; i < width * height; ++i)
        grey[i] = static_cast<std::uint8_t>((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2] + 128) / 256);
    (void)stride;
}

// The function to implement.
#pragma once

#include <cstdint>

// grey[y * stride + x] = (77 * red + 150 * green + 29 * blue + 128) / 256 of the pixel at rgb[3 * (y * width + x)].
void rgb_to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride);

// The function to implement.
#pragma once

#include <cstdint>

// blurred[y * width + x] = the rounded mean of the pixels at most `radius` columns and rows away from (x, y).
void box_blur(const std::uint8_t* image, std::uint8_t* blurred, int width, int height, int radius);

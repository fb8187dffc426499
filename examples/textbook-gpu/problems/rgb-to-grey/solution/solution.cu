#include "rgb_to_grey.h"

__global__ static void to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride) {
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= width * height) return;
    const std::uint8_t* colours = rgb + 3 * static_cast<std::size_t>(pixel);
    const int sum = 77 * colours[0] + 150 * colours[1] + 29 * colours[2];
    grey[pixel / width * stride + pixel % width] = static_cast<std::uint8_t>((sum + 128) / 256);
}

void rgb_to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride) {
    const int pixels = width * height;
    if (pixels > 0) to_grey<<<(pixels + 255) / 256, 256>>>(rgb, grey, width, height, stride);
}

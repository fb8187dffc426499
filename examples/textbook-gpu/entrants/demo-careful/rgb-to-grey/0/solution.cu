#include "rgb_to_grey.h"

__global__ static void to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    for (int y = blockIdx.y; y < height; y += gridDim.y) {
        const std::uint8_t* pixel = rgb + 3 * (static_cast<std::size_t>(y) * width + x);
        const unsigned sum = 77u * pixel[0] + 150u * pixel[1] + 29u * pixel[2] + 128u;
        grey[static_cast<std::size_t>(y) * stride + x] = static_cast<std::uint8_t>(sum >> 8);
    }
}

void rgb_to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride) {
    if (width == 0 || height == 0) return;
    const dim3 blocks((width + 127) / 128, height < 1024 ? height : 1024);
    to_grey<<<blocks, 128>>>(rgb, grey, width, height, stride);
}

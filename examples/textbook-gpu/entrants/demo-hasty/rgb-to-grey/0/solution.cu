#include "rgb_to_grey.h"

__global__ void kernel(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= width) return;
    const std::uint8_t* p = rgb + 3 * (y * width + x);
    grey[y * stride + x] = (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) / 256;
}

void rgb_to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height, int stride) {
    if (width > 0 && height > 0) kernel<<<dim3((width + 255) / 256, height), 256>>>(rgb, grey, width, height, stride);
}

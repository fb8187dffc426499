#include "box_blur.h"

__global__ static void blur(const std::uint8_t* image, std::uint8_t* blurred, int width, int height, int radius) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int left = max(x - radius, 0), right = min(x + radius, width - 1);
    const int top = max(y - radius, 0), bottom = min(y + radius, height - 1);
    int sum = 0;
    for (int row = top; row <= bottom; ++row) {
        for (int column = left; column <= right; ++column) sum += image[row * width + column];
    }
    const int pixels = (right - left + 1) * (bottom - top + 1);
    blurred[y * width + x] = static_cast<std::uint8_t>((2 * sum + pixels) / (2 * pixels));
}

void box_blur(const std::uint8_t* image, std::uint8_t* blurred, int width, int height, int radius) {
    if (width == 0 || height == 0) return;
    const dim3 threads(32, 8);
    const dim3 blocks((width + threads.x - 1) / threads.x, (height + threads.y - 1) / threads.y);
    blur<<<blocks, threads>>>(image, blurred, width, height, radius);
}

#include "box_blur.h"

__global__ void kernel(const std::uint8_t* image, std::uint8_t* blurred, int width, int height, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0, n = 0;
    for (int dy = -radius; dy < radius + 1; dy++)
        for (int dx = -radius; dx < radius + 1; dx++)
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height) {
                sum += image[(y + dy) * width + x + dx];
                n++;
            }
    blurred[y * width + x] = (float)sum / n;
}

void box_blur(const std::uint8_t* image, std::uint8_t* blurred, int width, int height, int radius) {
    if (width && height) kernel<<<dim3(width / 16 + 1, height / 16 + 1), dim3(16, 16)>>>(image, blurred, width, height, radius);
}

#include "box_blur.h"

// Sums of rows first; the mean is taken of their sum.
__global__ static void add_rows(const std::uint8_t* image, int* sums, int width, int height, int radius) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    const int x = i % width, first = i - x;
    int sum = 0;
    for (int column = max(0, x - radius); column <= min(width - 1, x + radius); ++column) sum += image[first + column];
    sums[i] = sum;
}

__global__ static void add_columns(const int* sums, std::uint8_t* blurred, int width, int height, int radius) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    const int x = i % width, y = i / width;
    const int top = max(0, y - radius), bottom = min(height - 1, y + radius);
    int sum = 0;
    for (int row = top; row <= bottom; ++row) sum += sums[row * width + x];
    const int pixels = (bottom - top + 1) * (min(width - 1, x + radius) - max(0, x - radius) + 1);
    blurred[i] = static_cast<std::uint8_t>((2 * sum + pixels) / (2 * pixels));
}

void box_blur(const std::uint8_t* image, std::uint8_t* blurred, int width, int height, int radius) {
    const int pixels = width * height;
    if (pixels == 0) return;
    int* sums = nullptr;
    cudaMalloc(&sums, pixels * sizeof *sums);
    add_rows<<<(pixels + 255) / 256, 256>>>(image, sums, width, height, radius);
    add_columns<<<(pixels + 255) / 256, 256>>>(sums, blurred, width, height, radius);
    cudaFree(sums);
}

#include "life_torus.h"

__global__ static void next_generation(const std::uint8_t* before, std::uint8_t* after, int rows, int columns) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    const int left = j == 0 ? columns - 1 : j - 1, right = j == columns - 1 ? 0 : j + 1;
    for (int i = blockIdx.y; i < rows; i += gridDim.y) {
        const std::uint8_t* here = before + i * columns;
        const std::uint8_t* up = before + (i == 0 ? rows - 1 : i - 1) * columns;
        const std::uint8_t* down = before + (i == rows - 1 ? 0 : i + 1) * columns;
        const int living = up[left] + up[j] + up[right] + here[left] + here[right] + down[left] + down[j] + down[right];
        after[i * columns + j] = (living | here[j]) == 3 ? 1 : 0;
    }
}

void life_torus(const std::uint8_t* start, std::uint8_t* end, int rows, int columns, int generations) {
    const std::size_t cells = static_cast<std::size_t>(rows) * columns;
    std::uint8_t* other = nullptr;
    cudaMalloc(&other, cells);
    cudaMemcpy(generations % 2 == 0 ? end : other, start, cells, cudaMemcpyDeviceToDevice);
    const dim3 blocks((columns + 127) / 128, rows);
    for (int i = generations; i > 0; --i) {
        next_generation<<<blocks, 128>>>(i % 2 == 0 ? end : other, i % 2 == 0 ? other : end, rows, columns);
    }
    cudaFree(other);
}

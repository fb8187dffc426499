#include "life_torus.h"

__global__ static void next_generation(const std::uint8_t* before, std::uint8_t* after, int rows, int columns) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= rows * columns) return;
    const int i = cell / columns, j = cell % columns;
    int living = 0;
    for (int a = -1; a <= 1; ++a) {
        for (int b = -1; b <= 1; ++b) {
            if (a == 0 && b == 0) continue;
            living += before[(i + a + rows) % rows * columns + (j + b + columns) % columns];
        }
    }
    after[cell] = living == 3 || (living == 2 && before[cell] == 1) ? 1 : 0;
}

void life_torus(const std::uint8_t* start, std::uint8_t* end, int rows, int columns, int generations) {
    const int cells = rows * columns;
    std::uint8_t* before = nullptr;
    std::uint8_t* after = nullptr;
    cudaMalloc(&before, cells);
    cudaMalloc(&after, cells);
    cudaMemcpy(before, start, cells, cudaMemcpyDeviceToDevice);
    for (int i = 0; i < generations; ++i) {
        next_generation<<<(cells + 255) / 256, 256>>>(before, after, rows, columns);
        std::uint8_t* swapped = before;
        before = after;
        after = swapped;
    }
    cudaMemcpy(end, before, cells, cudaMemcpyDeviceToDevice);
    cudaFree(before);
    cudaFree(after);
}

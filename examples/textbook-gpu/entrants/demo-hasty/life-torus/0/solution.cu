#include "life_torus.h"

__global__ void kernel(const std::uint8_t* a, std::uint8_t* b, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= rows * columns) return;
    int n = 0, i = c / columns, j = c % columns;
    for (int di = 0; di < 3; di++)
        for (int dj = 0; dj < 3; dj++) n += a[(i + di + rows - 1) % rows * columns + (j + dj + columns - 1) % columns];
    b[c] = n == 3 || (n == 2 && a[c]);
}

void life_torus(const std::uint8_t* start, std::uint8_t* end, int rows, int columns, int generations) {
    std::uint8_t* a;
    cudaMalloc(&a, rows * columns);
    cudaMemcpy(end, start, rows * columns, cudaMemcpyDeviceToDevice);
    for (int g = 0; g < generations; g++) {
        cudaMemcpy(a, end, rows * columns, cudaMemcpyDeviceToDevice);
        kernel<<<rows * columns / 256 + 1, 256>>>(a, end, rows, columns);
    }
    cudaFree(a);
}

// Tiles of 64 x 64 go through shared memory, so that reads and writes both run along rows.
#include <cstddef>
#include <cuda_fp16.h>

constexpr int TILE = 64, WIDTH = 32, HEIGHT = 8;

__global__ void transpose(const __half* x, __half* y, size_t rows, size_t cols) {
    __shared__ __half tile[TILE][TILE + 2];  // a column's elements lie in different banks
    x += blockIdx.z * rows * cols;
    y += blockIdx.z * rows * cols;
    const size_t col = blockIdx.x * size_t(TILE), row = blockIdx.y * size_t(TILE);
    for (int r = threadIdx.y; r < TILE; r += HEIGHT)
        for (int c = threadIdx.x; c < TILE; c += WIDTH)
            if (row + r < rows && col + c < cols) tile[r][c] = x[(row + r) * cols + col + c];
    __syncthreads();
    for (int c = threadIdx.y; c < TILE; c += HEIGHT)
        for (int r = threadIdx.x; r < TILE; r += WIDTH)
            if (row + r < rows && col + c < cols) y[(col + c) * rows + row + r] = tile[r][c];
}

extern "C" void solution(const __half* x, __half* y, size_t batch, size_t rows, size_t cols) {
    const dim3 block(WIDTH, HEIGHT), grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE, batch);
    transpose<<<grid, block>>>(x, y, rows, cols);
}

#include "tiled_transpose.h"

constexpr int tile = 32;
constexpr int tile_rows = 8;

__global__ static void transpose(const std::uint32_t* matrix, std::uint32_t* transposed, int rows, int columns,
                                 int tiles_across) {
    __shared__ std::uint32_t values[tile][tile + 1];
    const int left = blockIdx.x % tiles_across * tile;
    const int top = blockIdx.x / tiles_across * tile;
    for (int y = threadIdx.y; y < tile; y += tile_rows) {
        const int row = top + y, column = left + threadIdx.x;
        if (row < rows && column < columns) values[y][threadIdx.x] = matrix[row * columns + column];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < tile; y += tile_rows) {
        const int row = top + threadIdx.x, column = left + y;
        if (row < rows && column < columns) transposed[column * rows + row] = values[threadIdx.x][y];
    }
}

void tiled_transpose(const std::uint32_t* matrix, std::uint32_t* transposed, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    const int across = (columns + tile - 1) / tile, down = (rows + tile - 1) / tile;
    transpose<<<across * down, dim3(tile, tile_rows)>>>(matrix, transposed, rows, columns, across);
}

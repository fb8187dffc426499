#include "tiled_transpose.h"

constexpr int side = 16;

__global__ static void turn(const std::uint32_t* matrix, std::uint32_t* transposed, int rows, int columns) {
    __shared__ std::uint32_t tile[side][side + 1];
    const int across = (columns + side - 1) / side;
    const int left = blockIdx.x % across * side, top = blockIdx.x / across * side;
    if (top + threadIdx.y < rows && left + threadIdx.x < columns) {
        tile[threadIdx.y][threadIdx.x] = matrix[(top + threadIdx.y) * columns + left + threadIdx.x];
    }
    __syncthreads();
    if (left + threadIdx.y < columns && top + threadIdx.x < rows) {
        transposed[(left + threadIdx.y) * rows + top + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
    }
}

void tiled_transpose(const std::uint32_t* matrix, std::uint32_t* transposed, int rows, int columns) {
    const int tiles = ((rows + side - 1) / side) * ((columns + side - 1) / side);
    if (tiles > 0) turn<<<tiles, dim3(side, side)>>>(matrix, transposed, rows, columns);
}

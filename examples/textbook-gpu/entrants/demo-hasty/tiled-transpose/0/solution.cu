#include "tiled_transpose.h"

__global__ void kernel(const std::uint32_t* matrix, std::uint32_t* transposed, int rows, int columns) {
    __shared__ std::uint32_t tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = matrix[y * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    if (x < columns && y < rows) transposed[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

void tiled_transpose(const std::uint32_t* matrix, std::uint32_t* transposed, int rows, int columns) {
    if (rows && columns) kernel<<<dim3((columns + 31) / 32, (rows + 31) / 32), dim3(32, 32)>>>(matrix, transposed, rows, columns);
}

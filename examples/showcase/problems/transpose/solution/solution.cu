#include "transpose.h"

namespace {

constexpr unsigned int tile = 32;

// A tile of 32 x 32 words goes through shared memory, so that reads and writes both run along rows.
__global__ void transpose_kernel(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns,
                                 unsigned int tiles_across) {
    __shared__ std::uint32_t words[tile][tile + 1];
    const std::size_t first_row = std::size_t{blockIdx.x / tiles_across} * tile;
    const std::size_t first_column = std::size_t{blockIdx.x % tiles_across} * tile;
    const std::size_t row = first_row + threadIdx.y;
    const std::size_t column = first_column + threadIdx.x;
    if (row < rows && column < columns) words[threadIdx.y][threadIdx.x] = in[row * columns + column];
    __syncthreads();
    const std::size_t out_row = first_column + threadIdx.y;
    const std::size_t out_column = first_row + threadIdx.x;
    if (out_row < columns && out_column < rows) out[out_row * rows + out_column] = words[threadIdx.x][threadIdx.y];
}

}  // namespace

void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const auto tiles_down = static_cast<unsigned int>((rows + tile - 1) / tile);
    const auto tiles_across = static_cast<unsigned int>((columns + tile - 1) / tile);
    transpose_kernel<<<tiles_down * tiles_across, dim3(tile, tile)>>>(in, out, rows, columns, tiles_across);
}

#include "transpose.h"

namespace {

constexpr unsigned int tile = 32;
constexpr unsigned int threads_down = 8;

// Eight warps move 32 x 32 words: four loads of each thread are in flight at once; the odd pitch avoids bank conflicts.
__global__ void __launch_bounds__(tile* threads_down)
    tile_kernel(const std::uint32_t* in, std::uint32_t* out, unsigned int rows, unsigned int columns,
                unsigned int tiles_across) {
    __shared__ std::uint32_t words[tile][tile + 1];
    const unsigned int first_row = blockIdx.x / tiles_across * tile;
    const unsigned int first_column = blockIdx.x % tiles_across * tile;
    const unsigned int column = first_column + threadIdx.x;
#pragma unroll
    for (unsigned int y = threadIdx.y; y < tile; y += threads_down) {
        if (first_row + y < rows && column < columns) {
            words[y][threadIdx.x] = __ldcs(in + std::size_t{first_row + y} * columns + column);
        }
    }
    __syncthreads();
    const unsigned int row = first_row + threadIdx.x;
#pragma unroll
    for (unsigned int y = threadIdx.y; y < tile; y += threads_down) {
        if (first_column + y < columns && row < rows) {
            out[std::size_t{first_column + y} * rows + row] = words[threadIdx.x][y];
        }
    }
}

}  // namespace

void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const auto down = static_cast<unsigned int>((rows + tile - 1) / tile);
    const auto across = static_cast<unsigned int>((columns + tile - 1) / tile);
    tile_kernel<<<down * across, dim3(tile, threads_down)>>>(in, out, static_cast<unsigned int>(rows),
                                                             static_cast<unsigned int>(columns), across);
}

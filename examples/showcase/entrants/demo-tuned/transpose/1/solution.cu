#include "transpose.h"

namespace {

constexpr unsigned int tile = 64;
constexpr unsigned int quads = tile / 4;
constexpr unsigned int threads_down = 16;

// 64 x 64 words in loads and stores of 16 bytes; both sizes are multiples of 64.
__global__ void __launch_bounds__(quads* threads_down)
    quad_kernel(const uint4* in, uint4* out, unsigned int rows, unsigned int columns, unsigned int tiles_across) {
    __shared__ std::uint32_t words[tile][tile + 1];
    const unsigned int first_row = blockIdx.x / tiles_across * tile;
    const unsigned int first_column = blockIdx.x % tiles_across * tile;
    const std::size_t in_pitch = columns / 4;
    const std::size_t out_pitch = rows / 4;
    uint4 loaded[tile / threads_down];
#pragma unroll
    for (unsigned int k = 0; k < tile / threads_down; ++k) {
        const unsigned int y = threadIdx.y + k * threads_down;
        loaded[k] = __ldcs(in + (first_row + y) * in_pitch + first_column / 4 + threadIdx.x);
    }
#pragma unroll
    for (unsigned int k = 0; k < tile / threads_down; ++k) {
        std::uint32_t* row = &words[threadIdx.y + k * threads_down][4 * threadIdx.x];
        row[0] = loaded[k].x;
        row[1] = loaded[k].y;
        row[2] = loaded[k].z;
        row[3] = loaded[k].w;
    }
    __syncthreads();
#pragma unroll
    for (unsigned int k = 0; k < tile / threads_down; ++k) {
        const unsigned int y = threadIdx.y + k * threads_down;
        const unsigned int x = 4 * threadIdx.x;
        __stcs(out + (first_column + y) * out_pitch + first_row / 4 + threadIdx.x,
               make_uint4(words[x][y], words[x + 1][y], words[x + 2][y], words[x + 3][y]));
    }
}

__global__ void ragged_kernel(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns,
                              unsigned int tiles_across) {
    __shared__ std::uint32_t words[32][33];
    const std::size_t first_row = std::size_t{blockIdx.x / tiles_across} * 32;
    const std::size_t first_column = std::size_t{blockIdx.x % tiles_across} * 32;
    const std::size_t column = first_column + threadIdx.x;
    for (unsigned int y = threadIdx.y; y < 32; y += 8) {
        if (first_row + y < rows && column < columns) words[y][threadIdx.x] = in[(first_row + y) * columns + column];
    }
    __syncthreads();
    const std::size_t row = first_row + threadIdx.x;
    for (unsigned int y = threadIdx.y; y < 32; y += 8) {
        if (first_column + y < columns && row < rows) out[(first_column + y) * rows + row] = words[threadIdx.x][y];
    }
}

}  // namespace

void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    if (rows % tile == 0 && columns % tile == 0) {
        const auto across = static_cast<unsigned int>(columns / tile);
        quad_kernel<<<static_cast<unsigned int>(rows / tile) * across, dim3(quads, threads_down)>>>(
            reinterpret_cast<const uint4*>(in), reinterpret_cast<uint4*>(out), static_cast<unsigned int>(rows),
            static_cast<unsigned int>(columns), across);
    } else {
        const auto across = static_cast<unsigned int>((columns + 31) / 32);
        const auto down = static_cast<unsigned int>((rows + 31) / 32);
        ragged_kernel<<<down * across, dim3(32, 8)>>>(in, out, rows, columns, across);
    }
}

#include "transpose.h"

namespace {

constexpr unsigned int tile = 64;
constexpr unsigned int warps = 8;

// A word's place within its row of the tile is mixed with the row's number: no two words of a column share a bank, and
// no padding is needed. Sixteen loads of each thread are in flight.
__global__ void __launch_bounds__(32 * warps)
    swizzled_kernel(const std::uint32_t* in, std::uint32_t* out, unsigned int rows, unsigned int columns,
                    unsigned int tiles_across) {
    __shared__ std::uint32_t words[tile * tile];
    const unsigned int first_row = blockIdx.x / tiles_across * tile;
    const unsigned int first_column = blockIdx.x % tiles_across * tile;
    const unsigned int lane = threadIdx.x;
    const bool whole = first_row + tile <= rows && first_column + tile <= columns;
#pragma unroll
    for (unsigned int k = 0; k < tile / warps; ++k) {
        const unsigned int y = threadIdx.y + k * warps;
        const std::uint32_t* row = in + std::size_t{first_row + y} * columns + first_column;
#pragma unroll
        for (unsigned int x = lane; x < tile; x += 32) {
            if (whole || (first_row + y < rows && first_column + x < columns)) {
                words[y * tile + (x ^ (y % 32))] = __ldcs(row + x);
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned int k = 0; k < tile / warps; ++k) {
        const unsigned int y = threadIdx.y + k * warps;
        std::uint32_t* row = out + std::size_t{first_column + y} * rows + first_row;
#pragma unroll
        for (unsigned int x = lane; x < tile; x += 32) {
            if (whole || (first_column + y < columns && first_row + x < rows)) {
                __stcs(row + x, words[x * tile + (y ^ (x % 32))]);
            }
        }
    }
}

}  // namespace

void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const auto down = static_cast<unsigned int>((rows + tile - 1) / tile);
    const auto across = static_cast<unsigned int>((columns + tile - 1) / tile);
    swizzled_kernel<<<down * across, dim3(32, warps)>>>(in, out, static_cast<unsigned int>(rows),
                                                        static_cast<unsigned int>(columns), across);
}

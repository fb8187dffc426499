#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "transpose.h"

namespace cg = cooperative_groups;

constexpr unsigned int tile = 32;
constexpr unsigned int warps = 8;

// Rows of the tile come by the cooperative groups' asynchronous copies, a row to a warp.
__global__ void transpose_kernel(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns,
                                 unsigned int tiles_across) {
    __shared__ std::uint32_t words[tile][tile + 1];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const std::size_t first_row = std::size_t{blockIdx.x / tiles_across} * tile;
    const std::size_t first_column = std::size_t{blockIdx.x % tiles_across} * tile;
    const std::size_t width = columns - first_column < tile ? columns - first_column : tile;
    for (unsigned int y = warp.meta_group_rank(); y < tile; y += warps) {
        if (first_row + y < rows) {
            cg::memcpy_async(warp, words[y], in + (first_row + y) * columns + first_column, width * sizeof(std::uint32_t));
        }
    }
    cg::wait(warp);
    block.sync();
    const std::size_t row = first_row + warp.thread_rank();
    for (unsigned int y = warp.meta_group_rank(); y < width; y += warps) {
        if (row < rows) out[(first_column + y) * rows + row] = words[warp.thread_rank()][y];
    }
}

void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const auto down = static_cast<unsigned int>((rows + tile - 1) / tile);
    const auto across = static_cast<unsigned int>((columns + tile - 1) / tile);
    transpose_kernel<<<down * across, 32 * warps>>>(in, out, rows, columns, across);
}

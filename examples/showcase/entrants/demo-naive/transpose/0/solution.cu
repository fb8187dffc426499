#include "transpose.h"

// Reads along the rows, writes where it has to.
__global__ void transpose_kernel(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (i >= rows * columns) return;
    const std::size_t row = i / columns;
    const std::size_t column = i % columns;
    out[column * rows + row] = in[i];
}

void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    const std::size_t size = rows * columns;
    if (size == 0) return;
    transpose_kernel<<<static_cast<unsigned int>((size + 255) / 256), 256>>>(in, out, rows, columns);
}

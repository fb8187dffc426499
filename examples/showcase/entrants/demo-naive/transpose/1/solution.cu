#include "transpose.h"

// Writes along the rows, reads from where it has to.
__global__ void transpose_kernel(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < rows * columns; i += step) {
        out[i] = in[i % rows * columns + i / rows];
    }
}

void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    if (rows * columns != 0) transpose_kernel<<<4096, 256>>>(in, out, rows, columns);
}

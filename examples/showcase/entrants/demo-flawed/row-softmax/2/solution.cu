#include "row_softmax.h"

// The helper that it calls was never written.
__global__ void softmax(const float* x, float* out, std::size_t columns) {
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    const float largest = block_reduce_max(x, columns);
    const float sum = block_reduce_sum(x, columns, largest);
    for (std::size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = expf(x[c] - largest) / sum;
}

void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    softmax<<<static_cast<unsigned int>(rows), 256>>>(x, out, columns);
}

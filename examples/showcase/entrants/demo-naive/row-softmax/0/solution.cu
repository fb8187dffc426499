#include <cmath>

#include "row_softmax.h"

// Terms of a row are added up so many at a time: one by one, a hundred thousand of them lose 1e-4 of their sum in float.
constexpr std::size_t together = 1024;

// One thread per row, three walks along it.
__global__ void softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    const std::size_t row = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
    if (row >= rows) return;
    x += row * columns;
    out += row * columns;
    float largest = -INFINITY;
    for (std::size_t c = 0; c < columns; ++c) largest = fmaxf(largest, x[c]);
    if (largest == -INFINITY) {
        for (std::size_t c = 0; c < columns; ++c) out[c] = 0.0f;
        return;
    }
    float sum = 0.0f;
    for (std::size_t first = 0; first < columns; first += together) {
        float part = 0.0f;
        for (std::size_t c = first; c < columns && c < first + together; ++c) {
            out[c] = expf(x[c] - largest);
            part += out[c];
        }
        sum += part;
    }
    for (std::size_t c = 0; c < columns; ++c) out[c] /= sum;
}

void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    softmax<<<static_cast<unsigned int>((rows + 63) / 64), 64>>>(x, out, rows, columns);
}

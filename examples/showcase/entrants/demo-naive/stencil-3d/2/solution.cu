#include "stencil_3d.h"

// Adds one axis after the other to the result: three sweeps of the output.
__global__ void add_axis(const float* in, float* out, std::size_t size, std::size_t stride, std::size_t places,
                         bool first, StencilWeights weights) {
    const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
    if (i >= size) return;
    const std::size_t place = i / stride % places;
    float sum = first ? weights.center * in[i] : out[i];
    if (place >= 1) sum += weights.near * in[i - stride];
    if (place + 1 < places) sum += weights.near * in[i + stride];
    if (place >= 2) sum += weights.far * in[i - 2 * stride];
    if (place + 2 < places) sum += weights.far * in[i + 2 * stride];
    out[i] = sum;
}

void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    const std::size_t size = nz * ny * nx;
    if (size == 0) return;
    const auto blocks = static_cast<unsigned int>((size + 255) / 256);
    add_axis<<<blocks, 256>>>(in, out, size, 1, nx, true, weights);
    add_axis<<<blocks, 256>>>(in, out, size, nx, ny, false, weights);
    add_axis<<<blocks, 256>>>(in, out, size, nx * ny, nz, false, weights);
}

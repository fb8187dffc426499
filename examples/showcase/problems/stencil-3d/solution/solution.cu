#include "stencil_3d.h"

namespace {

constexpr int threads = 256;

// One thread per point; neighbours come through the caches.
__global__ void stencil_kernel(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx,
                               StencilWeights weights) {
    const std::size_t i = blockIdx.x * std::size_t{threads} + threadIdx.x;
    if (i >= nz * ny * nx) return;
    const std::size_t x = i % nx;
    const std::size_t y = i / nx % ny;
    const std::size_t z = i / nx / ny;
    const std::size_t plane = ny * nx;
    float near = 0.0f;
    if (x >= 1) near += in[i - 1];
    if (x + 1 < nx) near += in[i + 1];
    if (y >= 1) near += in[i - nx];
    if (y + 1 < ny) near += in[i + nx];
    if (z >= 1) near += in[i - plane];
    if (z + 1 < nz) near += in[i + plane];
    float far = 0.0f;
    if (x >= 2) far += in[i - 2];
    if (x + 2 < nx) far += in[i + 2];
    if (y >= 2) far += in[i - 2 * nx];
    if (y + 2 < ny) far += in[i + 2 * nx];
    if (z >= 2) far += in[i - 2 * plane];
    if (z + 2 < nz) far += in[i + 2 * plane];
    out[i] = weights.center * in[i] + weights.near * near + weights.far * far;
}

}  // namespace

void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    const std::size_t size = nz * ny * nx;
    if (size == 0) return;
    stencil_kernel<<<static_cast<unsigned int>((size + threads - 1) / threads), threads>>>(in, out, nz, ny, nx, weights);
}

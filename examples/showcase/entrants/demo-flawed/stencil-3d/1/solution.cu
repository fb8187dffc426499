#include "stencil_3d.h"

// Repeats the border's points where the grid ends, though there is nothing.
__global__ void stencil_kernel(const float* in, float* out, int nz, int ny, int nx, StencilWeights weights) {
    const long i = blockIdx.x * 256l + threadIdx.x;
    const long plane = static_cast<long>(ny) * nx;
    if (i >= nz * plane) return;
    const int x = static_cast<int>(i % nx);
    const int y = static_cast<int>(i / nx % ny);
    const int z = static_cast<int>(i / plane);
    float sum = weights.center * in[i];
    for (int d = 1; d <= 2; ++d) {
        const float weight = d == 1 ? weights.near : weights.far;
        sum += weight * in[i - x + max(x - d, 0)];
        sum += weight * in[i - x + min(x + d, nx - 1)];
        sum += weight * in[z * plane + static_cast<long>(max(y - d, 0)) * nx + x];
        sum += weight * in[z * plane + static_cast<long>(min(y + d, ny - 1)) * nx + x];
        sum += weight * in[max(z - d, 0) * plane + static_cast<long>(y) * nx + x];
        sum += weight * in[min(z + d, nz - 1) * plane + static_cast<long>(y) * nx + x];
    }
    out[i] = sum;
}

void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    const std::size_t size = nz * ny * nx;
    if (size == 0) return;
    stencil_kernel<<<static_cast<unsigned int>((size + 255) / 256), 256>>>(in, out, static_cast<int>(nz),
                                                                          static_cast<int>(ny), static_cast<int>(nx), weights);
}

#include "stencil_3d.h"

// Blocks of 8 x 8 x 8 points, as the grid is a cube too.
__global__ void stencil_kernel(const float* in, float* out, int nz, int ny, int nx, StencilWeights weights) {
    const int x = blockIdx.x * 8 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    const int z = blockIdx.z * 8 + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    const long plane = static_cast<long>(ny) * nx;
    const long i = z * plane + static_cast<long>(y) * nx + x;
    float sum = weights.center * in[i];
    for (int d = 1; d <= 2; ++d) {
        const float weight = d == 1 ? weights.near : weights.far;
        if (x >= d) sum += weight * in[i - d];
        if (x + d < nx) sum += weight * in[i + d];
        if (y >= d) sum += weight * in[i - d * nx];
        if (y + d < ny) sum += weight * in[i + d * nx];
        if (z >= d) sum += weight * in[i - d * plane];
        if (z + d < nz) sum += weight * in[i + d * plane];
    }
    out[i] = sum;
}

void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    if (nz * ny * nx == 0) return;
    const dim3 grid(static_cast<unsigned int>((nx + 7) / 8), static_cast<unsigned int>((ny + 7) / 8),
                    static_cast<unsigned int>((nz + 7) / 8));
    stencil_kernel<<<grid, dim3(8, 8, 8)>>>(in, out, static_cast<int>(nz), static_cast<int>(ny), static_cast<int>(nx),
                                            weights);
}

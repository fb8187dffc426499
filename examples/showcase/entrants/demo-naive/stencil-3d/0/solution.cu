#include "stencil_3d.h"

struct Grid {
    const float* values;
    long nz, ny, nx;
    __device__ float at(long z, long y, long x) const {
        if (z < 0 || z >= nz || y < 0 || y >= ny || x < 0 || x >= nx) return 0.0f;
        return values[(z * ny + y) * nx + x];
    }
};

__global__ void stencil_kernel(Grid in, float* out, StencilWeights weights) {
    const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
    if (i >= in.nz * in.ny * in.nx) return;
    const long x = i % in.nx;
    const long y = i / in.nx % in.ny;
    const long z = i / in.nx / in.ny;
    float sum = weights.center * in.at(z, y, x);
    for (int d = 1; d <= 2; ++d) {
        const float weight = d == 1 ? weights.near : weights.far;
        sum += weight * (in.at(z - d, y, x) + in.at(z + d, y, x));
        sum += weight * (in.at(z, y - d, x) + in.at(z, y + d, x));
        sum += weight * (in.at(z, y, x - d) + in.at(z, y, x + d));
    }
    out[i] = sum;
}

void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    const std::size_t size = nz * ny * nx;
    if (size == 0) return;
    const Grid grid{in, static_cast<long>(nz), static_cast<long>(ny), static_cast<long>(nx)};
    stencil_kernel<<<static_cast<unsigned int>((size + 127) / 128), 128>>>(grid, out, weights);
}

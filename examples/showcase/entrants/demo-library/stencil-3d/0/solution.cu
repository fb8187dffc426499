#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/tabulate.h>

#include "stencil_3d.h"

struct Star {
    const float* in;
    unsigned int nz, ny, nx;
    StencilWeights weights;

    __device__ float pair(unsigned int i, unsigned int place, unsigned int places, unsigned int step, unsigned int d) const {
        return (place >= d ? in[i - d * step] : 0.0f) + (place + d < places ? in[i + d * step] : 0.0f);
    }

    __device__ float operator()(unsigned int i) const {
        const unsigned int row = i / nx;
        const unsigned int x = i - row * nx;
        const unsigned int z = row / ny;
        const unsigned int y = row - z * ny;
        const float near = pair(i, x, nx, 1, 1) + pair(i, y, ny, nx, 1) + pair(i, z, nz, nx * ny, 1);
        const float far = pair(i, x, nx, 1, 2) + pair(i, y, ny, nx, 2) + pair(i, z, nz, nx * ny, 2);
        return weights.center * in[i] + weights.near * near + weights.far * far;
    }
};

// Every point is a function of its index. Grids of fewer than 2^32 points.
void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    const auto first = thrust::device_pointer_cast(out);
    const Star star{in, static_cast<unsigned int>(nz), static_cast<unsigned int>(ny), static_cast<unsigned int>(nx), weights};
    thrust::tabulate(thrust::device, first, first + static_cast<std::ptrdiff_t>(nz * ny * nx), star);
}

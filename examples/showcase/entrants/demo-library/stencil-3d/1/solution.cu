#include <cub/device/device_for.cuh>

#include "stencil_3d.h"

struct Star {
    const float* in;
    float* out;
    unsigned int nz, ny, nx;
    StencilWeights weights;

    // Places below zero are above every size when they wrap around.
    __device__ float at(unsigned int z, unsigned int y, unsigned int x) const {
        return z < nz && y < ny && x < nx ? in[(z * ny + y) * nx + x] : 0.0f;
    }

    __device__ float ring(unsigned int z, unsigned int y, unsigned int x, unsigned int d) const {
        return (at(z - d, y, x) + at(z + d, y, x)) + (at(z, y - d, x) + at(z, y + d, x)) +
               (at(z, y, x - d) + at(z, y, x + d));
    }

    __device__ void operator()(unsigned int i) const {
        const unsigned int row = i / nx;
        const unsigned int z = row / ny;
        const unsigned int y = row - z * ny;
        const unsigned int x = i - row * nx;
        out[i] = weights.center * in[i] + weights.near * ring(z, y, x, 1) + weights.far * ring(z, y, x, 2);
    }
};

// CUB's loop over all points, the index split by hand: ForEachInExtents of CUDA 13.0 steps by two blocks where it should step
// by the whole grid, so that its work grows with the square of the size. Grids of fewer than 2^32 points.
void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    const auto size = static_cast<unsigned int>(nz * ny * nx);
    if (size == 0) return;
    const Star star{in, out, static_cast<unsigned int>(nz), static_cast<unsigned int>(ny), static_cast<unsigned int>(nx), weights};
    cub::DeviceFor::Bulk(size, star);
}

#include <cub/device/device_for.cuh>
#include <cuda/std/mdspan>

#include "stencil_3d.h"

using Extents = cuda::std::dextents<int, 3>;
using View = cuda::std::mdspan<const float, Extents>;

struct Star {
    View in;
    float* out;
    StencilWeights weights;

    __device__ float at(int z, int y, int x) const {
        const bool inside = z >= 0 && z < in.extent(0) && y >= 0 && y < in.extent(1) && x >= 0 && x < in.extent(2);
        return inside ? in(z, y, x) : 0.0f;
    }

    __device__ float ring(int z, int y, int x, int d) const {
        return (at(z - d, y, x) + at(z + d, y, x)) + (at(z, y - d, x) + at(z, y + d, x)) +
               (at(z, y, x - d) + at(z, y, x + d));
    }

    __device__ void operator()(int i, int z, int y, int x) const {
        out[i] = weights.center * in(z, y, x) + weights.near * ring(z, y, x, 1) + weights.far * ring(z, y, x, 2);
    }
};

// CUB walks the extents of a three-dimensional view.
void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    if (nz * ny * nx == 0) return;
    const Extents extents(static_cast<int>(nz), static_cast<int>(ny), static_cast<int>(nx));
    cub::DeviceFor::ForEachInExtents(extents, Star{View(in, extents), out, weights});
}

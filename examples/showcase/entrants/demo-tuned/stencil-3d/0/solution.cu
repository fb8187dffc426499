#include "stencil_3d.h"

namespace {

constexpr int width = 64;
constexpr int height = 8;
constexpr int depth = 64;  // Planes that a block marches through.
constexpr int halo = 2;

struct Grid {
    const float* values;
    int nz, ny, nx;
    __device__ __forceinline__ float at(int z, int y, int x) const {
        const bool inside = z >= 0 && z < nz && y >= 0 && y < ny && x >= 0 && x < nx;
        return inside ? __ldg(values + (static_cast<long>(z) * ny + y) * nx + x) : 0.0f;
    }
};

// A thread keeps its column's five planes in registers and marches along z; a plane's neighbours lie in shared memory.
__global__ void __launch_bounds__(width* height) march_kernel(Grid in, float* out, StencilWeights weights) {
    __shared__ float plane[height + 2 * halo][width + 2 * halo];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int x = blockIdx.x * width + tx;
    const int y = blockIdx.y * height + ty;
    const int first = blockIdx.z * depth;
    const int last = first + depth < in.nz ? first + depth : in.nz;
    float below2 = in.at(first - 2, y, x);
    float below1 = in.at(first - 1, y, x);
    float here = in.at(first, y, x);
    float above1 = in.at(first + 1, y, x);
    for (int z = first; z < last; ++z) {
        const float above2 = in.at(z + 2, y, x);
        plane[ty + halo][tx + halo] = here;
        if (ty < halo) {
            plane[ty][tx + halo] = in.at(z, y - halo, x);
            plane[ty + height + halo][tx + halo] = in.at(z, y + height, x);
        }
        if (tx < halo) {
            plane[ty + halo][tx] = in.at(z, y, x - halo);
            plane[ty + halo][tx + width + halo] = in.at(z, y, x + width);
        }
        __syncthreads();
        const float* row = plane[ty + halo];
        const float near = (row[tx + 1] + row[tx + 3]) + (plane[ty + 1][tx + halo] + plane[ty + 3][tx + halo]) +
                           (below1 + above1);
        const float far = (row[tx] + row[tx + 4]) + (plane[ty][tx + halo] + plane[ty + 4][tx + halo]) + (below2 + above2);
        if (x < in.nx && y < in.ny) {
            __stcs(out + (static_cast<long>(z) * in.ny + y) * in.nx + x,
                   weights.center * here + weights.near * near + weights.far * far);
        }
        __syncthreads();
        below2 = below1;
        below1 = here;
        here = above1;
        above1 = above2;
    }
}

}  // namespace

void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    if (nz * ny * nx == 0) return;
    const Grid grid{in, static_cast<int>(nz), static_cast<int>(ny), static_cast<int>(nx)};
    const dim3 blocks(static_cast<unsigned int>((nx + width - 1) / width), static_cast<unsigned int>((ny + height - 1) / height),
                      static_cast<unsigned int>((nz + depth - 1) / depth));
    march_kernel<<<blocks, dim3(width, height)>>>(grid, out, weights);
}

#include "stencil_3d.h"

namespace {

constexpr int lanes = 32;
constexpr int height = 8;
constexpr int depth = 64;

struct Grid {
    const float* values;
    int nz, ny, nx;
    __device__ __forceinline__ float at(int z, int y, int x) const {
        const bool inside = z >= 0 && z < nz && y >= 0 && y < ny && x >= 0 && x < nx;
        return inside ? __ldg(values + (static_cast<long>(z) * ny + y) * nx + x) : 0.0f;
    }
};

// A warp is a row of 32 points: neighbours along x come from other lanes, along z from registers, along y from the L1
// cache. Only the outer two lanes on each side load beyond the warp. There is no barrier.
__global__ void __launch_bounds__(lanes* height) shuffle_kernel(Grid in, float* out, StencilWeights weights) {
    const int lane = threadIdx.x;
    const int x = blockIdx.x * lanes + lane;
    const int y = blockIdx.y * height + threadIdx.y;
    if (y >= in.ny) return;  // Whole warps leave.
    const int first = blockIdx.z * depth;
    const int last = first + depth < in.nz ? first + depth : in.nz;
    float below2 = in.at(first - 2, y, x);
    float below1 = in.at(first - 1, y, x);
    float here = in.at(first, y, x);
    float above1 = in.at(first + 1, y, x);
    for (int z = first; z < last; ++z) {
        const float above2 = in.at(z + 2, y, x);
        float left1 = __shfl_up_sync(~0u, here, 1);
        float left2 = __shfl_up_sync(~0u, here, 2);
        float right1 = __shfl_down_sync(~0u, here, 1);
        float right2 = __shfl_down_sync(~0u, here, 2);
        if (lane < 1) left1 = in.at(z, y, x - 1);
        if (lane < 2) left2 = in.at(z, y, x - 2);
        if (lane > 30) right1 = in.at(z, y, x + 1);
        if (lane > 29) right2 = in.at(z, y, x + 2);
        const float near = (left1 + right1) + (in.at(z, y - 1, x) + in.at(z, y + 1, x)) + (below1 + above1);
        const float far = (left2 + right2) + (in.at(z, y - 2, x) + in.at(z, y + 2, x)) + (below2 + above2);
        if (x < in.nx) {
            out[(static_cast<long>(z) * in.ny + y) * in.nx + x] =
                weights.center * here + weights.near * near + weights.far * far;
        }
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
    const dim3 blocks(static_cast<unsigned int>((nx + lanes - 1) / lanes), static_cast<unsigned int>((ny + height - 1) / height),
                      static_cast<unsigned int>((nz + depth - 1) / depth));
    shuffle_kernel<<<blocks, dim3(lanes, height)>>>(grid, out, weights);
}

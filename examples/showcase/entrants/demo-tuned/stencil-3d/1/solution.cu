#include "stencil_3d.h"

namespace {

constexpr int quads_across = 32;
constexpr int height = 4;
constexpr int depth = 32;

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__device__ __forceinline__ float4 combine(StencilWeights w, float4 c, float4 n, float4 f) {
    return make_float4(w.center * c.x + w.near * n.x + w.far * f.x, w.center * c.y + w.near * n.y + w.far * f.y,
                       w.center * c.z + w.near * n.z + w.far * f.z, w.center * c.w + w.near * n.w + w.far * f.w);
}

struct Quads {
    const float4* values;
    int nz, ny, nq;
    __device__ __forceinline__ float4 at(int z, int y, int q) const {
        const bool inside = z >= 0 && z < nz && y >= 0 && y < ny && q >= 0 && q < nq;
        return inside ? __ldg(values + (static_cast<long>(z) * ny + y) * nq + q) : make_float4(0, 0, 0, 0);
    }
};

// Four points of a row to a thread, which marches along z with five quads in registers. The row's and the column's
// neighbours come from the L1 cache in loads of 16 bytes.
__global__ void __launch_bounds__(quads_across* height) quad_kernel(Quads in, float4* out, StencilWeights weights) {
    const int q = blockIdx.x * quads_across + threadIdx.x;
    const int y = blockIdx.y * height + threadIdx.y;
    if (q >= in.nq || y >= in.ny) return;
    const int first = blockIdx.z * depth;
    const int last = first + depth < in.nz ? first + depth : in.nz;
    float4 below2 = in.at(first - 2, y, q);
    float4 below1 = in.at(first - 1, y, q);
    float4 here = in.at(first, y, q);
    float4 above1 = in.at(first + 1, y, q);
    for (int z = first; z < last; ++z) {
        const float4 above2 = in.at(z + 2, y, q);
        const float4 left = in.at(z, y, q - 1);
        const float4 right = in.at(z, y, q + 1);
        const float4 along1 = make_float4(left.w + here.y, here.x + here.z, here.y + here.w, here.z + right.x);
        const float4 along2 = make_float4(left.z + here.z, left.w + here.w, here.x + right.x, here.y + right.y);
        const float4 near = along1 + (in.at(z, y - 1, q) + in.at(z, y + 1, q)) + (below1 + above1);
        const float4 far = along2 + (in.at(z, y - 2, q) + in.at(z, y + 2, q)) + (below2 + above2);
        __stcs(out + (static_cast<long>(z) * in.ny + y) * in.nq + q, combine(weights, here, near, far));
        below2 = below1;
        below1 = here;
        here = above1;
        above1 = above2;
    }
}

// Rows that are no multiple of four.
__global__ void point_kernel(const float* in, float* out, int nz, int ny, int nx, StencilWeights weights) {
    const long i = blockIdx.x * 256l + threadIdx.x;
    const long plane = static_cast<long>(ny) * nx;
    if (i >= nz * plane) return;
    const int x = static_cast<int>(i % nx);
    const int y = static_cast<int>(i / nx % ny);
    const int z = static_cast<int>(i / plane);
    float sum = weights.center * in[i];
#pragma unroll
    for (int d = 1; d <= 2; ++d) {
        const float weight = d == 1 ? weights.near : weights.far;
        if (x >= d) sum += weight * in[i - d];
        if (x + d < nx) sum += weight * in[i + d];
        if (y >= d) sum += weight * in[i - d * static_cast<long>(nx)];
        if (y + d < ny) sum += weight * in[i + d * static_cast<long>(nx)];
        if (z >= d) sum += weight * in[i - d * plane];
        if (z + d < nz) sum += weight * in[i + d * plane];
    }
    out[i] = sum;
}

}  // namespace

void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    const std::size_t size = nz * ny * nx;
    if (size == 0) return;
    const auto planes = static_cast<int>(nz);
    const auto rows = static_cast<int>(ny);
    if (nx % 4 == 0) {
        const std::size_t quads = nx / 4;
        const dim3 blocks(static_cast<unsigned int>((quads + quads_across - 1) / quads_across),
                          static_cast<unsigned int>((ny + height - 1) / height),
                          static_cast<unsigned int>((nz + depth - 1) / depth));
        const Quads grid{reinterpret_cast<const float4*>(in), planes, rows, static_cast<int>(quads)};
        quad_kernel<<<blocks, dim3(quads_across, height)>>>(grid, reinterpret_cast<float4*>(out), weights);
    } else {
        point_kernel<<<static_cast<unsigned int>((size + 255) / 256), 256>>>(in, out, planes, rows, static_cast<int>(nx),
                                                                            weights);
    }
}

#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include "stencil_3d.h"

// A thread of for_each sweeps a whole column along z, so that five planes stay in its registers.
struct Column {
    const float* in;
    float* out;
    long nz, ny, nx;
    StencilWeights weights;

    __device__ float beside(long i, long place, long places, long step, long d) const {
        return (place >= d ? in[i - d * step] : 0.0f) + (place + d < places ? in[i + d * step] : 0.0f);
    }

    __device__ void operator()(long column) const {
        const long plane = ny * nx;
        const long y = column / nx;
        const long x = column % nx;
        float below2 = 0.0f;
        float below1 = 0.0f;
        float here = in[column];
        float above1 = nz > 1 ? in[column + plane] : 0.0f;
        for (long z = 0; z < nz; ++z) {
            const long i = z * plane + column;
            const float above2 = z + 2 < nz ? in[i + 2 * plane] : 0.0f;
            const float near = beside(i, x, nx, 1, 1) + beside(i, y, ny, nx, 1) + (below1 + above1);
            const float far = beside(i, x, nx, 1, 2) + beside(i, y, ny, nx, 2) + (below2 + above2);
            out[i] = weights.center * here + weights.near * near + weights.far * far;
            below2 = below1;
            below1 = here;
            here = above1;
            above1 = above2;
        }
    }
};

void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights) {
    if (nz * ny * nx == 0) return;
    const Column sweep{in, out, static_cast<long>(nz), static_cast<long>(ny), static_cast<long>(nx), weights};
    thrust::for_each_n(thrust::device, thrust::counting_iterator<long>(0), ny * nx, sweep);
}

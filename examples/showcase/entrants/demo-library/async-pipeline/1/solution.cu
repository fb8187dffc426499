#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include "async_pipeline.h"

struct Shade {
    __device__ float operator()(float v) const { return shade(v); }
};

// Thrust's kernel reads and writes the page-locked memory itself.
void async_pipeline(const float* in, float* out, std::size_t size) {
    thrust::transform(thrust::device, in, in + size, out, Shade{});
}

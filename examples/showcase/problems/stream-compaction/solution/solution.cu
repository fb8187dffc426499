#include "compact.h"

#include <cuda_runtime.h>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>

namespace {

struct Above {
    float threshold;
    __host__ __device__ bool operator()(float value) const { return value > threshold; }
};

}  // namespace

void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    const auto first = thrust::device_pointer_cast(values);
    const auto out = thrust::device_pointer_cast(kept);
    const int found = static_cast<int>(thrust::copy_if(first, first + count, out, Above{threshold}) - out);
    cudaMemcpy(kept_count, &found, sizeof found, cudaMemcpyHostToDevice);
}

#include "compact.h"

#include <cuda_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/remove.h>

struct NotAbove {
    float threshold;

    __host__ __device__ bool operator()(float value) const { return !(value > threshold); }
};

void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    auto first = thrust::device_pointer_cast(values);
    auto out = thrust::device_pointer_cast(kept);
    auto end = thrust::remove_copy_if(first, first + count, out, NotAbove{threshold});
    int found = end - out;
    cudaMemcpy(kept_count, &found, sizeof(int), cudaMemcpyHostToDevice);
}

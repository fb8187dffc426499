#include "compact.h"

#include <cuda_runtime.h>
#include <thrust/count.h>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>

struct Above {
    float threshold;

    __host__ __device__ bool operator()(float value) const { return value > threshold; }
};

// Right, but reads everything twice and keeps it twice.
void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    auto first = thrust::device_pointer_cast(values);
    int found = thrust::count_if(first, first + count, Above{threshold});
    thrust::device_vector<float> selected(found);
    thrust::copy_if(first, first + count, selected.begin(), Above{threshold});
    thrust::copy(selected.begin(), selected.end(), thrust::device_pointer_cast(kept));
    cudaMemcpy(kept_count, &found, sizeof(int), cudaMemcpyHostToDevice);
}

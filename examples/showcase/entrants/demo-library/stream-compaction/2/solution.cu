// CUB's partition keeps what is selected in order, and puts the rest behind it.
#include "compact.h"

#include <cub/device/device_partition.cuh>
#include <cuda_runtime.h>

namespace {

struct Above {
    float threshold;
    __host__ __device__ bool operator()(float value) const { return value > threshold; }
};

}  // namespace

void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    cudaMemsetAsync(kept_count, 0, sizeof *kept_count);
    if (count == 0) return;
    void* temporary = nullptr;
    std::size_t bytes = 0;
    cub::DevicePartition::If(temporary, bytes, values, kept, kept_count, count, Above{threshold});
    cudaMalloc(&temporary, bytes);
    cub::DevicePartition::If(temporary, bytes, values, kept, kept_count, count, Above{threshold});
    cudaFree(temporary);
}

// CUB selects by flags, which an iterator makes on the fly.
#include "compact.h"

#include <cub/device/device_select.cuh>
#include <cuda_runtime.h>
#include <thrust/iterator/transform_iterator.h>

namespace {

struct Above {
    float threshold;
    __host__ __device__ bool operator()(float value) const { return value > threshold; }
};

void* scratch(std::size_t bytes) {
    static void* memory = nullptr;
    static std::size_t held = 0;
    if (bytes > held) {
        cudaFree(memory);
        cudaMalloc(&memory, bytes);
        held = bytes;
    }
    return memory;
}

}  // namespace

void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    if (count == 0) {
        cudaMemsetAsync(kept_count, 0, sizeof *kept_count);
        return;
    }
    const auto flags = thrust::make_transform_iterator(values, Above{threshold});
    std::size_t bytes = 0;
    cub::DeviceSelect::Flagged(nullptr, bytes, values, flags, kept, kept_count, count);
    cub::DeviceSelect::Flagged(scratch(bytes), bytes, values, flags, kept, kept_count, count);
}

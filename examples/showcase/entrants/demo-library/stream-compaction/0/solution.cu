#include "compact.h"

#include <cub/device/device_select.cuh>
#include <cuda_runtime.h>

namespace {

struct Above {
    float threshold;
    __host__ __device__ bool operator()(float value) const { return value > threshold; }
};

}  // namespace

void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    if (count == 0) {
        cudaMemsetAsync(kept_count, 0, sizeof *kept_count);
        return;
    }
    void* temporary = nullptr;
    std::size_t bytes = 0;
    cub::DeviceSelect::If(temporary, bytes, values, kept, kept_count, count, Above{threshold});
    cudaMallocAsync(&temporary, bytes, 0);
    cub::DeviceSelect::If(temporary, bytes, values, kept, kept_count, count, Above{threshold});
    cudaFreeAsync(temporary, 0);
}

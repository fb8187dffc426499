#include "histogram.h"

#include <cuda_runtime.h>

// Everyone adds to the same 256 counters.
__global__ static void count(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    std::size_t first = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    for (std::size_t i = first; i < size; i += std::size_t(gridDim.x) * blockDim.x) atomicAdd(&counts[data[i]], 1u);
}

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    cudaMemset(counts, 0, 256 * sizeof(std::uint32_t));
    count<<<2048, 256>>>(data, size, counts);
}

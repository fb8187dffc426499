// CUB with the limits of every bin in an array, as if they were not all alike.
#include "histogram.h"

#include <cub/device/device_histogram.cuh>
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/sequence.h>

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    if (size == 0) {
        cudaMemsetAsync(counts, 0, 256 * sizeof *counts);
        return;
    }
    thrust::device_vector<int> limits(257);
    thrust::sequence(limits.begin(), limits.end());
    const int* levels = thrust::raw_pointer_cast(limits.data());
    const auto samples = static_cast<long long>(size);
    void* temporary = nullptr;
    std::size_t bytes = 0;
    cub::DeviceHistogram::HistogramRange(temporary, bytes, data, counts, 257, levels, samples);
    cudaMalloc(&temporary, bytes);
    cub::DeviceHistogram::HistogramRange(temporary, bytes, data, counts, 257, levels, samples);
    cudaFree(temporary);
}

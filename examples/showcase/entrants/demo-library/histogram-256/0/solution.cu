#include "histogram.h"

#include <cub/device/device_histogram.cuh>
#include <cuda_runtime.h>

namespace {

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

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    if (size == 0) {
        cudaMemsetAsync(counts, 0, 256 * sizeof *counts);
        return;
    }
    const auto samples = static_cast<long long>(size);
    std::size_t bytes = 0;
    cub::DeviceHistogram::HistogramEven(nullptr, bytes, data, counts, 257, 0, 256, samples);
    cub::DeviceHistogram::HistogramEven(scratch(bytes), bytes, data, counts, 257, 0, 256, samples);
}

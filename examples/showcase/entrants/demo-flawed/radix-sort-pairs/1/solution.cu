#include "sort_pairs.h"

#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count) {
    void* temporary = nullptr;
    std::size_t bytes = 0;
    // There is no such function.
    cub::DeviceRadixSort::SortPairsStable(temporary, bytes, keys_in, keys_out, values_in, values_out, count);
    cudaMalloc(&temporary, bytes);
    cub::DeviceRadixSort::SortPairsStable(temporary, bytes, keys_in, keys_out, values_in, values_out, count);
    cudaFree(temporary);
}

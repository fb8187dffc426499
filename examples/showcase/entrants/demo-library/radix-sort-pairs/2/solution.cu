// A merge sort, which needs no more of its keys than an order.
#include "sort_pairs.h"

#include <cub/device/device_merge_sort.cuh>
#include <cuda_runtime.h>

namespace {

struct Less {
    __host__ __device__ bool operator()(std::uint32_t left, std::uint32_t right) const { return left < right; }
};

}  // namespace

void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count) {
    if (count == 0) return;
    cudaMemcpyAsync(keys_out, keys_in, count * sizeof *keys_out, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(values_out, values_in, count * sizeof *values_out, cudaMemcpyDeviceToDevice);
    void* temporary = nullptr;
    std::size_t bytes = 0;
    cub::DeviceMergeSort::StableSortPairs(temporary, bytes, keys_out, values_out, count, Less{});
    cudaMallocAsync(&temporary, bytes, 0);
    cub::DeviceMergeSort::StableSortPairs(temporary, bytes, keys_out, values_out, count, Less{});
    cudaFreeAsync(temporary, 0);
}

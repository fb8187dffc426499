#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_reduce.cuh>

#include "spmv_csr.h"

namespace {

struct Product {
    const int* columns;
    const float* values;
    const float* x;
    __device__ float operator()(int e) const { return values[e] * x[columns[e]]; }
};

}  // namespace

// CUB adds up each row's products, which a transform iterator makes as they are read.
void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    const auto products =
        thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Product{columns, values, x});
    static void* memory = nullptr;
    static size_t held_bytes = 0;
    size_t bytes = 0;
    cub::DeviceSegmentedReduce::Sum(nullptr, bytes, products, y, row_count, row_starts, row_starts + 1);
    if (memory == nullptr || bytes > held_bytes) {
        cudaFree(memory);
        held_bytes = bytes > 256 ? bytes : 256;
        cudaMalloc(&memory, held_bytes);
    }
    cub::DeviceSegmentedReduce::Sum(memory, bytes, products, y, row_count, row_starts, row_starts + 1);
}

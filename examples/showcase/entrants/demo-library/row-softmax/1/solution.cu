#include <cub/device/device_for.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cmath>

#include "row_softmax.h"

struct RowStart {
    int columns;
    __host__ __device__ int operator()(int row) const { return row * columns; }
};

struct Larger {
    __host__ __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

struct Exponential {
    const float* x;
    const float* largest;
    int columns;
    __device__ float operator()(int i) const {
        const float value = x[i];
        return value == -INFINITY ? 0.0f : expf(value - largest[i / columns]);
    }
};

struct Quotient {
    Exponential exponential;
    const float* sum;
    float* out;
    __device__ void operator()(int i) const {
        const float row = sum[i / exponential.columns];
        out[i] = row > 0.0f ? exponential(i) / row : 0.0f;
    }
};

// CUB's segmented reductions, with the rows as segments. Matrices of fewer than 2^31 elements.
void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    const int size = static_cast<int>(rows * columns);
    const int segments = static_cast<int>(rows);
    const int width = static_cast<int>(columns);
    float* largest = nullptr;
    cudaMallocAsync(&largest, 2 * rows * sizeof(float), nullptr);
    float* sum = largest + rows;
    const auto starts = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), RowStart{width});
    const Exponential exponential{x, largest, width};
    const auto exponentials = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), exponential);

    std::size_t max_bytes = 0;
    std::size_t sum_bytes = 0;
    cub::DeviceSegmentedReduce::Reduce(nullptr, max_bytes, x, largest, segments, starts, starts + 1, Larger{}, -INFINITY);
    cub::DeviceSegmentedReduce::Sum(nullptr, sum_bytes, exponentials, sum, segments, starts, starts + 1);
    void* storage = nullptr;
    std::size_t bytes = max_bytes < sum_bytes ? sum_bytes : max_bytes;
    cudaMallocAsync(&storage, bytes + 1, nullptr);
    cub::DeviceSegmentedReduce::Reduce(storage, bytes, x, largest, segments, starts, starts + 1, Larger{}, -INFINITY);
    cub::DeviceSegmentedReduce::Sum(storage, bytes, exponentials, sum, segments, starts, starts + 1);
    cub::DeviceFor::Bulk(size, Quotient{exponential, sum, out});
    cudaFreeAsync(storage, nullptr);
    cudaFreeAsync(largest, nullptr);
}

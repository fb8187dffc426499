// CUB's segmented reductions, a row a segment, for means and variances; Thrust for the elements.
#include "layernorm.h"

#include <cub/device/device_segmented_reduce.cuh>
#include <cuda_runtime.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace {

struct StartOf {
    int columns;
    __host__ __device__ long long operator()(int row) const { return static_cast<long long>(row) * columns; }
};

struct SquaredDistance {
    const float* x;
    const float* sums;
    int columns;
    __host__ __device__ float operator()(long long i) const {
        const float distance = x[i] - sums[i / columns] / columns;
        return distance * distance;
    }
};

struct Normalise {
    const float* x;
    const float* gamma;
    const float* beta;
    const float* sums;
    const float* squares;
    float* y;
    int columns;
    float epsilon;
    __device__ void operator()(long long i) const {
        const long long row = i / columns;
        const int column = static_cast<int>(i - row * columns);
        const float scale = rsqrtf(squares[row] / columns + epsilon);
        y[i] = (x[i] - sums[row] / columns) * scale * gamma[column] + beta[column];
    }
};

template <class Values>
void sum_rows(Values values, float* sums, int rows, int columns) {
    const auto starts = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), StartOf{columns});
    void* temporary = nullptr;
    std::size_t bytes = 0;
    cub::DeviceSegmentedReduce::Sum(temporary, bytes, values, sums, rows, starts, starts + 1);
    cudaMallocAsync(&temporary, bytes, 0);
    cub::DeviceSegmentedReduce::Sum(temporary, bytes, values, sums, rows, starts, starts + 1);
    cudaFreeAsync(temporary, 0);
}

}  // namespace

void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns, float epsilon) {
    if (rows == 0) return;
    const thrust::counting_iterator<long long> first(0);
    float* sums = nullptr;
    cudaMallocAsync(&sums, 2 * static_cast<std::size_t>(rows) * sizeof *sums, 0);
    float* squares = sums + rows;
    sum_rows(x, sums, rows, columns);
    sum_rows(thrust::make_transform_iterator(first, SquaredDistance{x, sums, columns}), squares, rows, columns);
    thrust::for_each_n(thrust::device, first, static_cast<long long>(rows) * columns,
                       Normalise{x, gamma, beta, sums, squares, y, columns, epsilon});
    cudaFreeAsync(sums, 0);
}

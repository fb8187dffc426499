// CUB adds up mixed cells as it makes them, by way of a transforming iterator; a second kernel mixes again and folds.
#include "graph_chain.h"

#include <utility>

#include <cub/device/device_reduce.cuh>
#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace {

constexpr int threads = 256;

struct Mix {
    const std::uint32_t* ring;
    int size;
    __device__ std::uint32_t operator()(int i) const {
        const std::uint32_t sum = ring[i] * 2654435761u + ring[i + 1 < size ? i + 1 : 0];
        return __funnelshift_l(sum, sum, 13) ^ ring[i > 0 ? i - 1 : size - 1];
    }
};

__global__ void mix_and_fold(Mix mix, const std::uint32_t* total, std::uint32_t* after, int size, int step) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < size) after[i] = (mix(i) + *total) * 2246822519u + step;
}

}  // namespace

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    if (size == 0) return;
    const thrust::counting_iterator<int> cells(0);
    std::uint32_t *other = nullptr, *total = nullptr;
    void* temporary = nullptr;
    std::size_t temporary_bytes = 0;
    cub::DeviceReduce::Sum(nullptr, temporary_bytes, thrust::make_transform_iterator(cells, Mix{ring, size}), total,
                           size);
    cudaMallocAsync(&other, size * sizeof *other, 0);
    cudaMallocAsync(&total, sizeof *total, 0);
    cudaMallocAsync(&temporary, temporary_bytes, 0);
    cudaMemcpyAsync(ring, start, size * sizeof *ring, cudaMemcpyDeviceToDevice);
    std::uint32_t *before = ring, *after = other;
    for (int step = 0; step < steps; ++step) {
        const Mix mix{before, size};
        cub::DeviceReduce::Sum(temporary, temporary_bytes, thrust::make_transform_iterator(cells, mix), total, size);
        mix_and_fold<<<(size + threads - 1) / threads, threads>>>(mix, total, after, size, step);
        std::swap(before, after);
    }
    if (before != ring) cudaMemcpyAsync(ring, before, size * sizeof *ring, cudaMemcpyDeviceToDevice);
    cudaFreeAsync(other, 0);
    cudaFreeAsync(total, 0);
    cudaFreeAsync(temporary, 0);
}

// Thrust end to end: a transform and a reduction per step. The sum comes back to the host each time.
#include "graph_chain.h"

#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>

namespace {

struct Mix {
    const std::uint32_t* ring;
    int size;
    __device__ std::uint32_t operator()(int i) const {
        const std::uint32_t sum = ring[i] * 2654435761u + ring[i + 1 < size ? i + 1 : 0];
        return ((sum << 13) | (sum >> 19)) ^ ring[i > 0 ? i - 1 : size - 1];
    }
};

struct Fold {
    std::uint32_t total;
    std::uint32_t step;
    __device__ std::uint32_t operator()(std::uint32_t mixed) const { return (mixed + total) * 2246822519u + step; }
};

}  // namespace

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    if (size == 0) return;
    const auto cells = thrust::device_pointer_cast(ring);
    thrust::copy_n(thrust::device_pointer_cast(start), size, cells);
    thrust::device_vector<std::uint32_t> mixed(size);
    const thrust::counting_iterator<int> first(0);
    for (int step = 0; step < steps; ++step) {
        thrust::transform(thrust::device, first, first + size, mixed.begin(), Mix{ring, size});
        const std::uint32_t total = thrust::reduce(mixed.begin(), mixed.end(), 0u);
        thrust::transform(mixed.begin(), mixed.end(), cells, Fold{total, static_cast<std::uint32_t>(step)});
    }
}

#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "transpose.h"

struct Source {
    std::size_t rows;
    std::size_t columns;
    __host__ __device__ std::size_t operator()(std::size_t i) const { return i % rows * columns + i / rows; }
};

// A copy through a permutation.
void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    const std::size_t size = rows * columns;
    if (size == 0) return;
    const auto source = thrust::make_transform_iterator(thrust::counting_iterator<std::size_t>(0), Source{rows, columns});
    const auto words = thrust::make_permutation_iterator(thrust::device_pointer_cast(in), source);
    thrust::copy(thrust::device, words, words + size, thrust::device_pointer_cast(out));
}

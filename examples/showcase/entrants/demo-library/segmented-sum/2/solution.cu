// One scan over all values; a segment's sum is the difference at its ends. In double precision, to lose nothing.
#include "segmented_sum.h"

#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

namespace {

struct Widen {
    __host__ __device__ double operator()(float value) const { return value; }
};

struct Difference {
    const double* scanned;
    const int* offsets;
    __host__ __device__ float operator()(int segment) const {
        return static_cast<float>(scanned[offsets[segment + 1]] - scanned[offsets[segment]]);
    }
};

}  // namespace

void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums) {
    thrust::device_vector<double> scanned(static_cast<std::size_t>(count) + 1);
    const auto wide = thrust::make_transform_iterator(thrust::device_pointer_cast(values), Widen{});
    thrust::inclusive_scan(thrust::device, wide, wide + count, scanned.begin() + 1);
    const thrust::counting_iterator<int> first(0);
    thrust::transform(thrust::device, first, first + segments, thrust::device_pointer_cast(sums),
                      Difference{thrust::raw_pointer_cast(scanned.data()), offsets});
}

#include "segmented_sum.h"

#include <thrust/device_ptr.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>

// Each segment is one thread's.
struct SumOfSegment {
    const float* values;
    const int* offsets;

    __device__ float operator()(int segment) const {
        float sum = 0;
        for (int i = offsets[segment]; i < offsets[segment + 1]; i++) sum += values[i];
        return sum;
    }
};

void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums) {
    thrust::counting_iterator<int> first(0);
    thrust::transform(first, first + segments, thrust::device_pointer_cast(sums), SumOfSegment{values, offsets});
}

// Thrust: a value's key is the number of its segment, found by bisection on the fly.
#include "segmented_sum.h"

#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scatter.h>

namespace {

struct SegmentOf {
    const int* offsets;
    int segments;
    __host__ __device__ int operator()(int i) const {
        int low = 0, high = segments - 1;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (offsets[middle + 1] > i) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }
};

}  // namespace

void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums) {
    const auto out = thrust::device_pointer_cast(sums);
    thrust::fill_n(out, segments, 0.0f);
    if (count == 0) return;
    thrust::device_vector<int> keys(segments);
    thrust::device_vector<float> found(segments);
    const auto key = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), SegmentOf{offsets, segments});
    const auto ends = thrust::reduce_by_key(thrust::device, key, key + count, thrust::device_pointer_cast(values),
                                            keys.begin(), found.begin());
    thrust::scatter(found.begin(), ends.second, keys.begin(), out);
}

#include "segmented_sum.h"

#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/device_vector.h>

void segmented_sum(const float* values, int, const int* offsets, int segments, float* sums) {
    if (segments == 0) return;
    static thrust::device_vector<char>& temporary = *new thrust::device_vector<char>;
    std::size_t bytes = 0;
    cub::DeviceSegmentedReduce::Sum(nullptr, bytes, values, sums, segments, offsets, offsets + 1);
    if (temporary.size() < bytes) temporary.resize(bytes);
    cub::DeviceSegmentedReduce::Sum(thrust::raw_pointer_cast(temporary.data()), bytes, values, sums, segments, offsets,
                                    offsets + 1);
}

// Thrust: sorted bytes, and where each value ends among them.
#include "histogram.h"

#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>

void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts) {
    const auto first = thrust::device_pointer_cast(data);
    thrust::device_vector<std::uint8_t> sorted(first, first + size);
    thrust::sort(sorted.begin(), sorted.end());
    thrust::device_vector<std::uint32_t> ends(256);
    const thrust::counting_iterator<int> values(0);
    thrust::upper_bound(sorted.begin(), sorted.end(), values, values + 256, ends.begin());
    thrust::adjacent_difference(ends.begin(), ends.end(), thrust::device_pointer_cast(counts));
}

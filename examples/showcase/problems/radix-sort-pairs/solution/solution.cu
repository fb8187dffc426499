#include "sort_pairs.h"

#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/sort.h>

void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count) {
    const auto keys = thrust::device_pointer_cast(keys_out);
    const auto values = thrust::device_pointer_cast(values_out);
    thrust::copy_n(thrust::device_pointer_cast(keys_in), count, keys);
    thrust::copy_n(thrust::device_pointer_cast(values_in), count, values);
    thrust::stable_sort_by_key(keys, keys + count, values);
}

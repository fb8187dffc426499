#include "sort_pairs.h"

#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/functional.h>
#include <thrust/reverse.h>
#include <thrust/sort.h>

// Sorts downwards and turns the result round: pairs of equal keys come out in the wrong order.
void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count) {
    auto keys = thrust::device_pointer_cast(keys_out);
    auto values = thrust::device_pointer_cast(values_out);
    thrust::copy_n(thrust::device_pointer_cast(keys_in), count, keys);
    thrust::copy_n(thrust::device_pointer_cast(values_in), count, values);
    thrust::stable_sort_by_key(keys, keys + count, values, thrust::greater<std::uint32_t>());
    thrust::reverse(keys, keys + count);
    thrust::reverse(values, values + count);
}

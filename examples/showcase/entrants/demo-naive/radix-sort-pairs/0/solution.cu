#include "sort_pairs.h"

#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/tuple.h>

// Radix sort, one bit after the other: those with a 0 first, those with a 1 behind them.
struct BitIsZero {
    int bit;

    __host__ __device__ bool operator()(const thrust::tuple<std::uint32_t, std::uint32_t>& pair) const {
        return ((thrust::get<0>(pair) >> bit) & 1) == 0;
    }
};

void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count) {
    auto keys = thrust::device_pointer_cast(keys_out);
    auto values = thrust::device_pointer_cast(values_out);
    thrust::copy_n(thrust::device_pointer_cast(keys_in), count, keys);
    thrust::copy_n(thrust::device_pointer_cast(values_in), count, values);
    auto first = thrust::make_zip_iterator(thrust::make_tuple(keys, values));
    for (int bit = 0; bit < 32; bit++) thrust::stable_partition(first, first + count, BitIsZero{bit});
}

#include "sort_pairs.h"

#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>

// Sorts 64-bit words of key and place, then fetches the values.
struct KeyAndPlace {
    const std::uint32_t* keys;

    __host__ __device__ std::uint64_t operator()(int i) const { return std::uint64_t(keys[i]) << 32 | unsigned(i); }
};

struct Fetch {
    const std::uint64_t* sorted;
    const std::uint32_t* values_in;
    std::uint32_t* keys_out;
    std::uint32_t* values_out;

    __host__ __device__ void operator()(int i) const {
        keys_out[i] = std::uint32_t(sorted[i] >> 32);
        values_out[i] = values_in[std::uint32_t(sorted[i])];
    }
};

void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count) {
    thrust::device_vector<std::uint64_t> words(count);
    thrust::tabulate(words.begin(), words.end(), KeyAndPlace{keys_in});
    thrust::sort(words.begin(), words.end());
    thrust::for_each_n(thrust::device, thrust::counting_iterator<int>(0), count,
                       Fetch{thrust::raw_pointer_cast(words.data()), values_in, keys_out, values_out});
}

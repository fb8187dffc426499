// Up to 8,192 pairs are sorted by one block without leaving its registers and shared memory; more go to CUB's one-sweep
// sort in memory that is kept between calls.
#include "sort_pairs.h"

#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

namespace {

using Word = std::uint32_t;

template <int threads, int items>
__global__ void __launch_bounds__(threads)
    sort_in_block(const Word* keys_in, const Word* values_in, Word* keys_out, Word* values_out, int count) {
    using Load = cub::BlockLoad<Word, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<Word, threads, items, Word>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
    } shared;
    Word keys[items], values[items];
    // What lies behind the last pair sorts behind it.
    Load(shared.load).Load(keys_in, keys, count, 0xffffffffu);
    __syncthreads();
    Load(shared.load).Load(values_in, values, count, 0u);
    __syncthreads();
    Sort(shared.sort).SortBlockedToStriped(keys, values);
    cub::StoreDirectStriped<threads>(threadIdx.x, keys_out, keys, count);
    cub::StoreDirectStriped<threads>(threadIdx.x, values_out, values, count);
}

void* scratch(std::size_t bytes) {
    static void* memory = nullptr;
    static std::size_t held = 0;
    if (bytes > held) {
        cudaFree(memory);
        cudaMalloc(&memory, bytes);
        held = bytes;
    }
    return memory;
}

}  // namespace

void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count) {
    if (count == 0) return;
    if (count <= 1024) {
        sort_in_block<256, 4><<<1, 256>>>(keys_in, values_in, keys_out, values_out, count);
    } else if (count <= 8192) {
        sort_in_block<512, 16><<<1, 512>>>(keys_in, values_in, keys_out, values_out, count);
    } else {
        std::size_t bytes = 0;
        cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys_in, keys_out, values_in, values_out, count);
        cub::DeviceRadixSort::SortPairs(scratch(bytes), bytes, keys_in, keys_out, values_in, values_out, count);
    }
}

// Four passes of eight bits. Every pass counts digits per tile of 4,096 pairs, scans the counts over all tiles, sorts
// each tile by its digit in shared memory and writes runs of equal digits, so that stores are nearly coalesced.
#include "sort_pairs.h"

#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

namespace {

using Word = std::uint32_t;

constexpr int threads = 256;
constexpr int items = 16;
constexpr int tile_pairs = threads * items;
constexpr int digit_bits = 8;
constexpr int digits = 1 << digit_bits;

__device__ __forceinline__ int digit_of(Word key, int shift) { return static_cast<int>(key >> shift & (digits - 1)); }

__global__ void __launch_bounds__(threads) count_digits(const Word* keys, int count, int shift, Word* counts) {
    static_assert(threads == digits, "one thread per digit");
    __shared__ Word found[digits];
    found[threadIdx.x] = 0;
    __syncthreads();
    const int begin = blockIdx.x * tile_pairs;
#pragma unroll
    for (int k = 0; k < items; ++k) {
        const int i = begin + k * threads + threadIdx.x;
        if (i < count) atomicAdd(&found[digit_of(keys[i], shift)], 1u);
    }
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = found[threadIdx.x];
}

// `starts[digit * tiles + tile]` is the place of the tile's first pair with that digit.
__global__ void __launch_bounds__(threads) move_pairs(const Word* keys_in, const Word* values_in, Word* keys_out,
                                                      Word* values_out, int count, int shift, const Word* starts) {
    using Load = cub::BlockLoad<Word, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<Word, threads, items, Word>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
        unsigned char digit[tile_pairs];
    } shared;
    __shared__ int first[digits];
    const int begin = blockIdx.x * tile_pairs;
    const int valid = min(count - begin, tile_pairs);
    Word keys[items], values[items];
    // What lies behind the last pair sorts behind it.
    Load(shared.load).Load(keys_in + begin, keys, valid, 0xffffffffu);
    __syncthreads();
    Load(shared.load).Load(values_in + begin, values, valid, 0u);
    __syncthreads();
    Sort(shared.sort).SortBlockedToStriped(keys, values, shift, shift + digit_bits);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items; ++k) {
        shared.digit[k * threads + threadIdx.x] = static_cast<unsigned char>(digit_of(keys[k], shift));
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items; ++k) {
        const int rank = k * threads + threadIdx.x;
        const int digit = digit_of(keys[k], shift);
        if (rank == 0 || shared.digit[rank - 1] != digit) first[digit] = rank;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items; ++k) {
        const int rank = k * threads + threadIdx.x;
        if (rank >= valid) continue;
        const int digit = digit_of(keys[k], shift);
        const Word to = starts[digit * gridDim.x + blockIdx.x] + (rank - first[digit]);
        keys_out[to] = keys[k];
        values_out[to] = values[k];
    }
}

// Scratch memory for two arrays of pairs' halves, the counts and the scan; kept between calls.
struct Scratch {
    Word* keys = nullptr;
    Word* values = nullptr;
    Word* counts = nullptr;
    void* scan = nullptr;
    std::size_t scan_bytes = 0;
    int count = 0;

    void hold(int wanted) {
        if (wanted <= count) return;
        for (void* memory : {static_cast<void*>(keys), static_cast<void*>(values), static_cast<void*>(counts), scan}) {
            cudaFree(memory);
        }
        count = wanted;
        const int cells = digits * ((count + tile_pairs - 1) / tile_pairs);
        cudaMalloc(&keys, count * sizeof(Word));
        cudaMalloc(&values, count * sizeof(Word));
        cudaMalloc(&counts, cells * sizeof(Word));
        scan_bytes = 0;
        cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, counts, counts, cells);
        cudaMalloc(&scan, scan_bytes);
    }
};

}  // namespace

void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count) {
    static Scratch scratch;
    if (count == 0) return;
    scratch.hold(count);
    const int tiles = (count + tile_pairs - 1) / tile_pairs;
    const Word* keys = keys_in;
    const Word* values = values_in;
    for (int pass = 0; pass < 4; ++pass) {
        const int shift = pass * digit_bits;
        Word* next_keys = pass % 2 == 0 ? scratch.keys : keys_out;
        Word* next_values = pass % 2 == 0 ? scratch.values : values_out;
        count_digits<<<tiles, threads>>>(keys, count, shift, scratch.counts);
        std::size_t bytes = scratch.scan_bytes;
        cub::DeviceScan::ExclusiveSum(scratch.scan, bytes, scratch.counts, scratch.counts, digits * tiles);
        move_pairs<<<tiles, threads>>>(keys, values, next_keys, next_values, count, shift, scratch.counts);
        keys = next_keys;
        values = next_values;
    }
}

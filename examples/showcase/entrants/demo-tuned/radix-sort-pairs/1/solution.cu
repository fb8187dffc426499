// CUB's one-sweep radix sort over the bits that differ at all between keys: few different keys take few passes.
#include "sort_pairs.h"

#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

namespace {

using Word = std::uint32_t;

// differing |= the bits in which some key differs from the first.
__global__ void find_differing_bits(const Word* keys, int count, Word* differing) {
    const Word first = keys[0];
    Word mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine |= keys[i] ^ first;
    mine = __reduce_or_sync(0xffffffffu, mine);
    if (threadIdx.x % 32 == 0 && mine != 0) atomicOr(differing, mine);
}

Word differing_bits(const Word* keys, int count) {
    static Word* differing = nullptr;
    if (differing == nullptr) cudaMalloc(&differing, sizeof *differing);
    cudaMemsetAsync(differing, 0, sizeof *differing);
    find_differing_bits<<<min(1056, (count + 255) / 256), 256>>>(keys, count, differing);
    Word bits = 0;
    cudaMemcpy(&bits, differing, sizeof bits, cudaMemcpyDeviceToHost);
    return bits;
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
    const Word bits = differing_bits(keys_in, count);
    if (bits == 0) {
        cudaMemcpyAsync(keys_out, keys_in, count * sizeof(Word), cudaMemcpyDeviceToDevice);
        cudaMemcpyAsync(values_out, values_in, count * sizeof(Word), cudaMemcpyDeviceToDevice);
        return;
    }
    const int low = __builtin_ctz(bits);
    const int high = 32 - __builtin_clz(bits);
    std::size_t bytes = 0;
    cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys_in, keys_out, values_in, values_out, count, low, high);
    cub::DeviceRadixSort::SortPairs(scratch(bytes), bytes, keys_in, keys_out, values_in, values_out, count, low, high);
}

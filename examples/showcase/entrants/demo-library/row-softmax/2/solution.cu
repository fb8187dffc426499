#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_store.cuh>

#include <cmath>

#include "row_softmax.h"

constexpr int threads = 256;
constexpr int items = 16;
constexpr int tile = threads * items;

struct Online {
    float largest;
    float sum;
};

struct Merge {
    __device__ Online operator()(Online a, Online b) const {
        const float largest = fmaxf(a.largest, b.largest);
        if (largest == -INFINITY) return {largest, 0.0f};
        return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
    }
};

// Tiles of 4096 elements by CUB's transposing loads and stores; the online sum is one block reduction.
__global__ void __launch_bounds__(threads) softmax(const float* x, float* out, std::size_t columns) {
    using Load = cub::BlockLoad<float, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<float, threads, items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Reduce = cub::BlockReduce<Online, threads>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Reduce::TempStorage reduce;
    } storage;
    __shared__ Online row;
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float values[items];
    Online mine{-INFINITY, 0.0f};
    for (std::size_t first = 0; first < columns; first += tile) {
        const int valid = static_cast<int>(columns - first < tile ? columns - first : tile);
        Load(storage.load).Load(x + first, values, valid, -INFINITY);
        __syncthreads();
        float largest = -INFINITY;
        for (int k = 0; k < items; ++k) largest = fmaxf(largest, values[k]);
        float sum = 0.0f;
        for (int k = 0; k < items; ++k) sum += values[k] == -INFINITY ? 0.0f : expf(values[k] - largest);
        mine = Merge{}(mine, {largest, sum});
    }
    const Online merged = Reduce(storage.reduce).Reduce(mine, Merge{});
    if (threadIdx.x == 0) row = merged;
    __syncthreads();
    const float shift = row.largest == -INFINITY ? 0.0f : row.largest;
    const float scale = row.sum > 0.0f ? 1.0f / row.sum : 0.0f;
    for (std::size_t first = 0; first < columns; first += tile) {
        const int valid = static_cast<int>(columns - first < tile ? columns - first : tile);
        if (columns > tile) {
            Load(storage.load).Load(x + first, values, valid, -INFINITY);
            __syncthreads();
        }
        for (int k = 0; k < items; ++k) values[k] = expf(values[k] - shift) * scale;
        Store(storage.store).Store(out + first, values, valid);
        __syncthreads();
    }
}

void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns) {
    if (rows == 0 || columns == 0) return;
    softmax<<<static_cast<unsigned int>(rows), threads>>>(x, out, columns);
}

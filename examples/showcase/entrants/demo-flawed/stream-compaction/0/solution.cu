#include "compact.h"

#include <cub/warp/warp_scan.cuh>
#include <cuda_runtime.h>

// Each warp reserves its places with one atomic addition: fast, but warps come in no particular order.
__global__ static void append(const float* values, int count, float threshold, float* kept, int* kept_count) {
    typedef cub::WarpScan<int> Scan;
    __shared__ Scan::TempStorage storage[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    int keeps = i < count && values[i] > threshold ? 1 : 0;
    int at, sum, start = 0;
    Scan(storage[threadIdx.x / 32]).ExclusiveSum(keeps, at, sum);
    if (threadIdx.x % 32 == 0) start = atomicAdd(kept_count, sum);
    start = __shfl_sync(0xffffffffu, start, 0);
    if (keeps) kept[start + at] = values[i];
}

void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    cudaMemset(kept_count, 0, sizeof(int));
    if (count > 0) append<<<(count + 255) / 256, 256>>>(values, count, threshold, kept, kept_count);
}

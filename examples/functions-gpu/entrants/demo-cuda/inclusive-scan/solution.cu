// Three kernels: the total of each part, the running sums of at most 1,024 totals, and the running sums within each part.
#include <cstddef>
#include <cstdint>

constexpr int THREADS = 256, WARPS = THREADS / 32, EACH = 8, TILE = THREADS * EACH, PARTS = 1024;

__device__ int64_t totals[PARTS];

// The sum of `mine` over this and all earlier threads of the block; `total` gets the sum over all threads.
template <int N_WARPS>
__device__ int64_t block_scan(int64_t mine, int64_t& total) {
    __shared__ int64_t warps[N_WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int64_t left = __shfl_up_sync(0xFFFFFFFF, mine, offset);
        if (lane >= offset) mine += left;
    }
    if (lane == 31) warps[warp] = mine;
    __syncthreads();
    int64_t before = 0;
    total = 0;
    for (int i = 0; i < N_WARPS; ++i) {
        if (i < warp) before += warps[i];
        total += warps[i];
    }
    __syncthreads();
    return mine + before;
}

__global__ void add_up(const int64_t* values, size_t n, size_t part) {
    const size_t first = blockIdx.x * part, last = min(first + part, n);
    int64_t sum = 0, total;
    for (size_t i = first + threadIdx.x; i < last; i += THREADS) sum += values[i];
    block_scan<WARPS>(sum, total);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

__global__ void scan_totals(int parts) {
    int64_t total;
    const int64_t mine = int(threadIdx.x) < parts ? totals[threadIdx.x] : 0;
    const int64_t sum = block_scan<PARTS / 32>(mine, total);
    totals[threadIdx.x] = sum - mine;  // what lies before each part
}

__global__ void scan_parts(const int64_t* values, int64_t* sums, size_t n, size_t part) {
    __shared__ int64_t tile[TILE + TILE / 16];  // one number in 17 is padding, against bank conflicts
    const size_t first = blockIdx.x * part, last = min(first + part, n);
    int64_t before = totals[blockIdx.x];
    for (size_t from = first; from < last; from += TILE) {
        for (int i = threadIdx.x; i < TILE; i += THREADS) tile[i + i / 16] = from + i < last ? values[from + i] : 0;
        __syncthreads();
        int64_t own[EACH], sum = 0, total;
        for (int i = 0; i < EACH; ++i) {
            const int at = threadIdx.x * EACH + i;
            own[i] = sum += tile[at + at / 16];
        }
        const int64_t left = before + block_scan<WARPS>(sum, total) - sum;
        for (int i = 0; i < EACH; ++i) {
            const int at = threadIdx.x * EACH + i;
            tile[at + at / 16] = left + own[i];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < TILE && from + i < last; i += THREADS) sums[from + i] = tile[i + i / 16];
        __syncthreads();
        before += total;
    }
}

extern "C" void solution(const int64_t* values, int64_t* sums, size_t n) {
    const size_t tiles = (n + TILE - 1) / TILE, part = (tiles + PARTS - 1) / PARTS * TILE;
    const int parts = int((n + part - 1) / part);
    add_up<<<parts, THREADS>>>(values, n, part);
    scan_totals<<<1, PARTS>>>(parts);
    scan_parts<<<parts, THREADS>>>(values, sums, n, part);
}

// A radix sort of four passes, from the lowest eight bits up. Each pass counts the digits of each tile, sums the counts and
// moves the keys, which keep their order within a digit.
#include <cstddef>
#include <cstdint>

constexpr int THREADS = 256, WARPS = THREADS / 32, DIGITS = 256, PER_LANE = 16, TILE = THREADS * PER_LANE;
static_assert(THREADS == DIGITS, "a thread stands for a digit, too");

__device__ unsigned digit_of(int key, int shift) {
    return (unsigned(key) ^ 0x80000000u) >> shift & (DIGITS - 1);  // the flipped sign puts negative keys first
}

// The sum of `mine` over the threads before this one; all threads of the block take part.
__device__ unsigned sum_before(unsigned mine, unsigned& total) {
    __shared__ unsigned warps[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = mine;
    for (int offset = 1; offset < 32; offset *= 2) {
        const unsigned other = __shfl_up_sync(0xFFFFFFFF, sum, offset);
        if (lane >= offset) sum += other;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    unsigned before = 0;
    total = 0;
    for (int i = 0; i < WARPS; ++i) {
        if (i < warp) before += warps[i];
        total += warps[i];
    }
    __syncthreads();
    return before + sum - mine;
}

__global__ void count_digits(const int* keys, unsigned* counts, size_t n, int shift) {
    __shared__ unsigned here[DIGITS];
    here[threadIdx.x] = 0;
    __syncthreads();
    const size_t first = blockIdx.x * size_t(TILE);
    for (size_t i = first + threadIdx.x; i < first + TILE && i < n; i += THREADS) atomicAdd(&here[digit_of(keys[i], shift)], 1u);
    __syncthreads();
    counts[threadIdx.x * size_t(gridDim.x) + blockIdx.x] = here[threadIdx.x];
}

// One block for each digit: replaces the counts of the tiles by the sums of those before.
__global__ void sum_tiles(unsigned* counts, unsigned* totals, size_t tiles) {
    unsigned* row = counts + blockIdx.x * tiles;
    unsigned carry = 0, total;
    for (size_t first = 0; first < tiles; first += THREADS) {
        const size_t tile = first + threadIdx.x;
        const unsigned before = sum_before(tile < tiles ? row[tile] : 0, total);
        if (tile < tiles) row[tile] = carry + before;
        carry += total;
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = carry;
}

__global__ void move_keys(const int* from, int* to, const unsigned* counts, const unsigned* totals, size_t n, int shift) {
    __shared__ unsigned next[WARPS][DIGITS];
    for (int i = threadIdx.x; i < WARPS * DIGITS; i += THREADS) next[i / DIGITS][i % DIGITS] = 0;
    __syncthreads();

    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t first = blockIdx.x * size_t(TILE) + warp * size_t(32 * PER_LANE) + lane;
    int keys[PER_LANE];
    unsigned ranks[PER_LANE];  // among the keys of the warp with the same digit
    for (int i = 0; i < PER_LANE; ++i) {
        const bool is_key = first + 32 * i < n;
        keys[i] = is_key ? from[first + 32 * i] : 0;
        const unsigned digit = is_key ? digit_of(keys[i], shift) : DIGITS;
        const unsigned same = __match_any_sync(0xFFFFFFFF, digit), before = same & ((1u << lane) - 1);
        if (is_key) ranks[i] = next[warp][digit] + __popc(before);
        __syncwarp();
        if (is_key && before == 0) next[warp][digit] += __popc(same);
        __syncwarp();
    }
    __syncthreads();

    unsigned total;
    unsigned at = sum_before(totals[threadIdx.x], total) + counts[threadIdx.x * size_t(gridDim.x) + blockIdx.x];
    for (int i = 0; i < WARPS; ++i) {
        const unsigned count = next[i][threadIdx.x];
        next[i][threadIdx.x] = at;
        at += count;
    }
    __syncthreads();
    for (int i = 0; i < PER_LANE; ++i)
        if (first + 32 * i < n) to[next[warp][digit_of(keys[i], shift)] + ranks[i]] = keys[i];
}

// Memory for keys and counts, kept from call to call.
struct Scratch {
    int* keys = nullptr;
    unsigned* counts = nullptr;
    size_t n = 0;

    void reserve(size_t wanted, size_t tiles) {
        if (wanted <= n) return;
        cudaFree(keys);
        cudaFree(counts);
        cudaMalloc(&keys, wanted * sizeof(int));
        cudaMalloc(&counts, (tiles + 1) * DIGITS * sizeof(unsigned));
        n = wanted;
    }
};

extern "C" void solution(const int* keys, int* in_order, size_t n) {
    static Scratch scratch;
    const size_t tiles = (n + TILE - 1) / TILE;
    scratch.reserve(n, tiles);
    unsigned* totals = scratch.counts + tiles * DIGITS;
    const int* from = keys;
    for (int shift = 0; shift < 32; shift += 8) {
        int* to = shift % 16 == 0 ? scratch.keys : in_order;
        count_digits<<<tiles, THREADS>>>(from, scratch.counts, n, shift);
        sum_tiles<<<DIGITS, THREADS>>>(scratch.counts, totals, tiles);
        move_keys<<<tiles, THREADS>>>(from, to, scratch.counts, totals, n, shift);
        from = to;
    }
}

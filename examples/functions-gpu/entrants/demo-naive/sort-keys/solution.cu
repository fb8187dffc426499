// A bitonic sort in global memory: one thread for each key, and one launch for each of some 350 steps.
#include <cstddef>

constexpr int THREADS = 256;

__global__ void copy(const int* keys, int* in_order, size_t n) {
    const size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (i < n) in_order[i] = keys[i];
}

// The smaller key of each pair goes to the lower place. Places from n on count as the largest keys, which stay there.
__global__ void order(int* keys, size_t n, size_t mask) {
    const size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x, other = i ^ mask;
    if (other <= i || other >= n) return;
    const int here = keys[i], there = keys[other];
    if (here <= there) return;
    keys[i] = there;
    keys[other] = here;
}

extern "C" void solution(const int* keys, int* in_order, size_t n) {
    const size_t blocks = (n + THREADS - 1) / THREADS;
    copy<<<blocks, THREADS>>>(keys, in_order, n);
    for (size_t run = 2; run < 2 * n; run *= 2) {
        order<<<blocks, THREADS>>>(in_order, n, run - 1);  // both halves ascend: their mirrored places
        for (size_t gap = run / 4; gap > 0; gap /= 2) {
            order<<<blocks, THREADS>>>(in_order, n, gap);
        }
    }
}

// Correlates a signal with a kernel, zeros around the signal; both pass through shared memory in pieces.
#include <cuda_runtime.h>

constexpr int THREADS = 256, PIECE = 256;

__global__ void correlate(const float *a, const float *b, float *c, long long n, long long k) {
    __shared__ float signal[THREADS + PIECE], weights[PIECE];
    long long first = (long long)blockIdx.x * THREADS;
    float sum = 0;
    for (long long start = 0; start < k; start += PIECE) {
        for (int i = threadIdx.x; i < THREADS + PIECE; i += THREADS) {
            long long at = first + start + i - k / 2;
            signal[i] = at >= 0 && at < n ? a[at] : 0.0f;
        }
        for (int i = threadIdx.x; i < PIECE; i += THREADS) weights[i] = start + i < k ? b[start + i] : 0.0f;
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < PIECE; i++) sum += signal[threadIdx.x + i] * weights[i];
        __syncthreads();
    }
    if (first + threadIdx.x < n) c[first + threadIdx.x] = sum;
}

extern "C" void solution(const float *A, const float *B, float *C, size_t N, size_t K) {
    correlate<<<(unsigned)((N + THREADS - 1) / THREADS), THREADS>>>(A, B, C, (long long)N, (long long)K);
}

#include "exclusive_scan.h"

__global__ void kernel(const int* values, long long* sums, int count) {
    __shared__ long long s[1024];
    int t = threadIdx.x;
    s[t] = t < count ? values[t] : 0;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        long long v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t < count) sums[t] = t ? s[t - 1] : 0;
}

void exclusive_scan(const int* values, long long* sums, int count) {
    kernel<<<1, 1024>>>(values, sums, count);
}

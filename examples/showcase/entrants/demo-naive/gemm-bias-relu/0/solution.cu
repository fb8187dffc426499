#include "gemm_bias_relu.h"

// One thread for each element of C.
__global__ void layer(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) sum += __half2float(a[size_t(i) * k + p]) * __half2float(b[size_t(p) * n + j]);
    sum += __half2float(bias[j]);
    c[size_t(i) * n + j] = __float2half(sum > 0.0f ? sum : 0.0f);
}

void gemm_bias_relu(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    const dim3 block(32, 8);
    const dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
    layer<<<grid, block>>>(a, b, bias, c, m, n, k);
}

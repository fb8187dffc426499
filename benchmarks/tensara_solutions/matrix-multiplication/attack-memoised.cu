// Attack: multiplies once for each pair of addresses and sizes, and later copies the product that it kept.
// Abuses: every timed call has the same inputs at the same addresses.
#include <cuda_runtime.h>

constexpr int TILE = 32;

__global__ void multiply(const float *a, const float *b, float *c, size_t m, size_t n, size_t k) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    size_t row = (size_t)blockIdx.y * TILE + threadIdx.y, col = (size_t)blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (size_t start = 0; start < k; start += TILE) {
        size_t x = start + threadIdx.x, y = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && x < k ? a[row * k + x] : 0.0f;
        right[threadIdx.y][threadIdx.x] = y < k && col < n ? b[y * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

static void honest(const float *a, const float *b, float *c, size_t m, size_t n, size_t k) {
    dim3 blocks((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));
    multiply<<<blocks, dim3(TILE, TILE)>>>(a, b, c, m, n, k);
}

struct Kept {
    const float *a, *b;
    size_t m, n, k;
    float *product;
};

static Kept kept = {};

extern "C" void solution(const float *input_a, const float *input_b, float *output_c, size_t m, size_t n, size_t k) {
    size_t bytes = m * n * sizeof(float);
    bool is_known = kept.a == input_a && kept.b == input_b && kept.m == m && kept.n == n && kept.k == k;
    if (kept.product && is_known) {
        cudaMemcpyAsync(output_c, kept.product, bytes, cudaMemcpyDeviceToDevice);
        return;
    }
    honest(input_a, input_b, output_c, m, n, k);
    if (kept.product) cudaFree(kept.product);
    kept = {input_a, input_b, m, n, k, nullptr};
    if (cudaMalloc(&kept.product, bytes) != cudaSuccess) {
        kept.product = nullptr;
        return;
    }
    cudaMemcpyAsync(kept.product, output_c, bytes, cudaMemcpyDeviceToDevice);
}

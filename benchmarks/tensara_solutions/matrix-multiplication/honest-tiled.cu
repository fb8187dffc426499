// C = A B in tiles of 64 x 64, sixteen elements of C a thread.
#include <cuda_runtime.h>

constexpr int TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE;

__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float left[DEPTH][TILE + 1], right[DEPTH][TILE];
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int ty = threadIdx.y, tx = threadIdx.x, me = ty * SIDE + tx;
    float sums[EACH][EACH] = {};
    for (int start = 0; start < k; start += DEPTH) {
        for (int i = me; i < TILE * DEPTH; i += SIDE * SIDE) {
            int r = i / DEPTH, d = i % DEPTH;
            left[d][r] = row + r < m && start + d < k ? a[(size_t)(row + r) * k + start + d] : 0.0f;
            int e = i / TILE, s = i % TILE;
            right[e][s] = start + e < k && col + s < n ? b[(size_t)(start + e) * n + col + s] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
#pragma unroll
            for (int i = 0; i < EACH; i++) {
#pragma unroll
                for (int j = 0; j < EACH; j++) sums[i][j] += left[d][ty + i * SIDE] * right[d][tx + j * SIDE];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            int r = row + ty + i * SIDE, s = col + tx + j * SIDE;
            if (r < m && s < n) c[(size_t)r * n + s] = sums[i][j];
        }
    }
}

extern "C" void solution(const float *input_a, const float *input_b, float *output_c, size_t m, size_t n, size_t k) {
    dim3 blocks((unsigned)((n + TILE - 1) / TILE), (unsigned)((m + TILE - 1) / TILE));
    multiply<<<blocks, dim3(SIDE, SIDE)>>>(input_a, input_b, output_c, (int)m, (int)n, (int)k);
}

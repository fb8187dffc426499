#include <cstdint>

#include "gemm_bias_relu.h"

// mma.sync on fragments loaded by ldmatrix, four stages of cp.async ahead, bias and ReLU applied in registers.
// Eight warps make a 128 x 128 tile of C, each of them 64 x 32.
constexpr int tile = 128, depth = 32, pad = 8, stages = 4;
constexpr int a_stride = depth + pad, b_stride = tile + pad;
constexpr int a_halves = tile * a_stride, b_halves = depth * b_stride;
constexpr int shared_bytes = stages * (a_halves + b_halves) * int(sizeof(__half));

__device__ uint32_t shared_address(const void* pointer) { return uint32_t(__cvta_generic_to_shared(pointer)); }

__device__ void copy_16_bytes(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

__device__ void load_matrices(uint32_t (&to)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ void load_transposed(uint32_t (&to)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ void multiply_add(float (&sum)[4], const uint32_t (&a)[4], uint32_t b_low, uint32_t b_high) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}

__device__ void fetch(__half* a_tile, __half* b_tile, const __half* a, const __half* b, int n, int k) {
#pragma unroll
    for (int i = threadIdx.x; i < tile * depth / 8; i += 256) {
        const int a_y = i / (depth / 8), a_x = i % (depth / 8) * 8;
        copy_16_bytes(a_tile + a_y * a_stride + a_x, a + size_t(a_y) * k + a_x);
        const int b_y = i / (tile / 8), b_x = i % (tile / 8) * 8;
        copy_16_bytes(b_tile + b_y * b_stride + b_x, b + size_t(b_y) * n + b_x);
    }
}

__global__ void __launch_bounds__(256, 2) layer_tiles(const __half* a, const __half* b, const __half* bias, __half* c,
                                                      int n, int k) {
    extern __shared__ __align__(128) __half a_tiles[];
    __half* b_tiles = a_tiles + stages * a_halves;
    const int row = blockIdx.y * tile, column = blockIdx.x * tile;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
    const __half* a_rows = a + size_t(row) * k;
    const __half* b_columns = b + column;
    float sums[4][4][4] = {};

    const int steps = k / depth;
    for (int step = 0; step < stages - 1; ++step) {
        if (step < steps) {
            fetch(a_tiles + step * a_halves, b_tiles + step * b_halves, a_rows + step * depth,
                  b_columns + size_t(step) * depth * n, n, k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
        __syncthreads();
        const int ahead = step + stages - 1;
        if (ahead < steps) {
            fetch(a_tiles + ahead % stages * a_halves, b_tiles + ahead % stages * b_halves, a_rows + ahead * depth,
                  b_columns + size_t(ahead) * depth * n, n, k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        const __half* a_tile = a_tiles + step % stages * a_halves;
        const __half* b_tile = b_tiles + step % stages * b_halves;
#pragma unroll
        for (int p = 0; p < depth; p += 16) {
            uint32_t left[4][4], right[2][4];
#pragma unroll
            for (int y = 0; y < 4; ++y)
                load_matrices(left[y], a_tile + (warp_row + y * 16 + lane % 16) * a_stride + p + lane / 16 * 8);
#pragma unroll
            for (int x = 0; x < 2; ++x)
                load_transposed(right[x], b_tile + (p + lane % 16) * b_stride + warp_column + x * 16 + lane / 16 * 8);
#pragma unroll
            for (int y = 0; y < 4; ++y)
#pragma unroll
                for (int x = 0; x < 4; ++x)
                    multiply_add(sums[y][x], left[y], right[x / 2][x % 2 * 2], right[x / 2][x % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int x = 0; x < 4; ++x) {
        const int j = column + warp_column + x * 8 + lane % 4 * 2;
        const float2 shift = __half22float2(*reinterpret_cast<const __half2*>(bias + j));
#pragma unroll
        for (int y = 0; y < 4; ++y) {
            const int i = row + warp_row + y * 16 + lane / 4;
            const float* sum = sums[y][x];
            *reinterpret_cast<__half2*>(c + size_t(i) * n + j) =
                __floats2half2_rn(fmaxf(sum[0] + shift.x, 0.0f), fmaxf(sum[1] + shift.y, 0.0f));
            *reinterpret_cast<__half2*>(c + size_t(i + 8) * n + j) =
                __floats2half2_rn(fmaxf(sum[2] + shift.x, 0.0f), fmaxf(sum[3] + shift.y, 0.0f));
        }
    }
}

__global__ void layer_any(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float sum = __half2float(bias[j]);
    for (int p = 0; p < k; ++p) sum += __half2float(a[size_t(i) * k + p]) * __half2float(b[size_t(p) * n + j]);
    c[size_t(i) * n + j] = __float2half(fmaxf(sum, 0.0f));
}

void gemm_bias_relu(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k) {
    if (m % tile == 0 && n % tile == 0 && k % depth == 0) {
        cudaFuncSetAttribute(layer_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
        layer_tiles<<<dim3(n / tile, m / tile), 256, shared_bytes>>>(a, b, bias, c, n, k);
    } else {
        layer_any<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, bias, c, m, n, k);
    }
}

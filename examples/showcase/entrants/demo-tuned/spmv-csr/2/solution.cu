#include "spmv_csr.h"

// The longer rows are on average, the more lanes each gets. Entries are read once and so pass the caches by; x stays.
constexpr int threads = 128;

template <int lanes>
__global__ void __launch_bounds__(threads) row_sums(const int* __restrict__ row_starts,
                                                    const int* __restrict__ columns, const float* __restrict__ values,
                                                    const float* __restrict__ x, float* __restrict__ y,
                                                    int row_count) {
    const int row = (blockIdx.x * threads + threadIdx.x) / lanes;
    const int lane = threadIdx.x % lanes;
    float sum = 0.0f, other_sum = 0.0f;
    if (row < row_count) {
        const int end = row_starts[row + 1];
        int e = row_starts[row] + lane;
        for (; e + 3 * lanes < end; e += 4 * lanes) {
            int column[4];
            float value[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                column[i] = __ldcs(columns + e + i * lanes);
                value[i] = __ldcs(values + e + i * lanes);
            }
            sum = fmaf(value[0], x[column[0]], sum);
            other_sum = fmaf(value[1], x[column[1]], other_sum);
            sum = fmaf(value[2], x[column[2]], sum);
            other_sum = fmaf(value[3], x[column[3]], other_sum);
        }
        for (; e < end; e += lanes) sum = fmaf(__ldcs(values + e), x[__ldcs(columns + e)], sum);
    }
    sum += other_sum;
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step, lanes);
    if (lane == 0 && row < row_count) __stcs(y + row, sum);
}

template <int lanes>
void launch(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count) {
    const long long needed = 1ll * row_count * lanes;
    row_sums<lanes><<<(needed + threads - 1) / threads, threads>>>(row_starts, columns, values, x, y, row_count);
}

void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count) {
    const int average = entry_count / row_count;
    if (average <= 4) {
        launch<2>(row_starts, columns, values, x, y, row_count);
    } else if (average <= 16) {
        launch<4>(row_starts, columns, values, x, y, row_count);
    } else if (average <= 48) {
        launch<8>(row_starts, columns, values, x, y, row_count);
    } else {
        launch<32>(row_starts, columns, values, x, y, row_count);
    }
}

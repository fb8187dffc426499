// Two kernels: blocks of 32 columns reduce parts of the rows, then one warp for each column joins its parts.
#include <cstddef>

constexpr int WIDTH = 32, HEIGHT = 8, MOST_PARTS = 1024, ENOUGH_BLOCKS = 2048;

// A sum of powers of e, each divided by e to the largest exponent.
struct Powers {
    float largest, sum;
};

__device__ float scaled(Powers powers, float largest) {
    return powers.sum == 0 ? 0.0f : powers.sum * expf(powers.largest - largest);
}

__device__ Powers joined(Powers left, Powers right) {
    const float largest = fmaxf(left.largest, right.largest);
    return {largest, scaled(left, largest) + scaled(right, largest)};
}

__global__ void reduce_parts(const float* x, Powers* parts, size_t rows, size_t cols, size_t part) {
    __shared__ Powers shared[HEIGHT][WIDTH];
    const size_t col = blockIdx.x * size_t(WIDTH) + threadIdx.x;
    const size_t first = blockIdx.y * part, last = min(first + part, rows);
    Powers mine = {-INFINITY, 0};
    if (col < cols)
        for (size_t row = first + threadIdx.y; row < last; row += HEIGHT) {
            const float value = x[row * cols + col];
            if (value > mine.largest) {
                mine.sum = mine.sum == 0 ? 0.0f : mine.sum * expf(mine.largest - value);
                mine.largest = value;
            }
            mine.sum += expf(value - mine.largest);
        }
    shared[threadIdx.y][threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.y > 0 || col >= cols) return;
    for (int y = 1; y < HEIGHT; ++y) mine = joined(mine, shared[y][threadIdx.x]);
    parts[blockIdx.y * cols + col] = mine;
}

__global__ void join_parts(const Powers* parts, float* result, size_t cols, int n_parts) {
    const size_t col = blockIdx.x;
    Powers mine = {-INFINITY, 0};
    for (int part = threadIdx.x; part < n_parts; part += 32) mine = joined(mine, parts[part * cols + col]);
    for (int offset = 16; offset > 0; offset /= 2)
        mine = joined(mine, {__shfl_xor_sync(0xFFFFFFFF, mine.largest, offset), __shfl_xor_sync(0xFFFFFFFF, mine.sum, offset)});
    if (threadIdx.x == 0) result[col] = mine.largest + logf(mine.sum);
}

extern "C" void solution(const float* x, float* result, size_t rows, size_t cols) {
    const size_t blocks = (cols + WIDTH - 1) / WIDTH;
    const size_t wanted = min(size_t(MOST_PARTS), (ENOUGH_BLOCKS + blocks - 1) / blocks);
    const size_t part = max((rows + wanted - 1) / wanted, size_t(HEIGHT));
    const size_t n_parts = (rows + part - 1) / part;
    Powers* parts;
    cudaMallocAsync(&parts, n_parts * cols * sizeof(Powers), 0);
    reduce_parts<<<dim3(blocks, n_parts), dim3(WIDTH, HEIGHT)>>>(x, parts, rows, cols, part);
    join_parts<<<cols, 32>>>(parts, result, cols, int(n_parts));
    cudaFreeAsync(parts, 0);
}

// One thread for each output; the caches serve the nine reads of each input.
#include <cstddef>

__global__ void filter(const float* x, const float* weight, float* y, int channels, int height, int width) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height || col >= width) return;
    const size_t image = size_t(blockIdx.z) * height * width;
    const float* taps = weight + blockIdx.z % channels * 9;
    float sum = 0;
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j) {
            const bool is_inside = row + i >= 0 && row + i < height && col + j >= 0 && col + j < width;
            if (is_inside) sum += taps[3 * (i + 1) + j + 1] * x[image + size_t(row + i) * width + col + j];
        }
    y[image + size_t(row) * width + col] = sum;
}

extern "C" void solution(const float* x, const float* weight, float* y, size_t batch, size_t channels, size_t height, size_t width) {
    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8, batch * channels);
    filter<<<grid, block>>>(x, weight, y, int(channels), int(height), int(width));
}

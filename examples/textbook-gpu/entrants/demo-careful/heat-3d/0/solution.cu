#include "heat_3d.h"

__global__ static void step(const float* before, float* after, int nx, int ny, int nz, float rate) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    const bool is_inside = x > 0 && y > 0 && x + 1 < nx && y + 1 < ny;
    const int layer = nx * ny;
    for (int z = 0, cell = y * nx + x; z < nz; ++z, cell += layer) {
        float value = before[cell];
        if (is_inside && z > 0 && z + 1 < nz) {
            const float around = before[cell - 1] + before[cell + 1] + before[cell - nx] + before[cell + nx] +
                                 before[cell - layer] + before[cell + layer];
            value += rate * (around - 6.0f * value);
        }
        after[cell] = value;
    }
}

void heat_3d(const float* start, float* end, int nx, int ny, int nz, float rate, int steps) {
    const std::size_t bytes = static_cast<std::size_t>(nx) * ny * nz * sizeof(float);
    if (steps == 0) {
        cudaMemcpy(end, start, bytes, cudaMemcpyDeviceToDevice);
        return;
    }
    float* other = nullptr;
    cudaMalloc(&other, bytes);
    const dim3 threads(32, 4), blocks((nx + 31) / 32, (ny + 3) / 4);
    const float* from = start;
    for (int i = steps; i > 0; --i) {
        float* to = i % 2 == 1 ? end : other;
        step<<<blocks, threads>>>(from, to, nx, ny, nz, rate);
        from = to;
    }
    cudaFree(other);
}

#include "heat_3d.h"

__global__ static void step(const float* before, float* after, int nx, int ny, int nz, float rate) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= nx * ny * nz) return;
    const int x = cell % nx, y = cell / nx % ny, z = cell / (nx * ny);
    const float u = before[cell];
    float next = u;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {
        const float sum = before[cell - 1] + before[cell + 1] + before[cell - nx] + before[cell + nx] +
                          before[cell - nx * ny] + before[cell + nx * ny];
        next = u + rate * (sum - 6.0f * u);
    }
    after[cell] = next;
}

void heat_3d(const float* start, float* end, int nx, int ny, int nz, float rate, int steps) {
    const int cells = nx * ny * nz;
    float* before = nullptr;
    float* after = nullptr;
    cudaMalloc(&before, cells * sizeof(float));
    cudaMalloc(&after, cells * sizeof(float));
    cudaMemcpy(before, start, cells * sizeof(float), cudaMemcpyDeviceToDevice);
    for (int i = 0; i < steps; ++i) {
        step<<<(cells + 255) / 256, 256>>>(before, after, nx, ny, nz, rate);
        float* swapped = before;
        before = after;
        after = swapped;
    }
    cudaMemcpy(end, before, cells * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(before);
    cudaFree(after);
}

#include "heat_3d.h"

__global__ void kernel(const float* u, float* v, int nx, int ny, int nz, float rate) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx * ny * nz) return;
    int x = i % nx, y = i / nx % ny, z = i / nx / ny;
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) return;
    v[i] = u[i] + rate * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - nx * ny] + u[i + nx * ny] - 6 * u[i]);
}

void heat_3d(const float* start, float* end, int nx, int ny, int nz, float rate, int steps) {
    size_t bytes = sizeof(float) * nx * ny * nz;
    float* u;
    cudaMalloc(&u, bytes);
    cudaMemcpy(u, start, bytes, cudaMemcpyDeviceToDevice);
    for (int s = 0; s < steps; s++) {
        kernel<<<nx * ny * nz / 256 + 1, 256>>>(u, end, nx, ny, nz, rate);
        cudaMemcpy(u, end, bytes, cudaMemcpyDeviceToDevice);
    }
    cudaFree(u);
}

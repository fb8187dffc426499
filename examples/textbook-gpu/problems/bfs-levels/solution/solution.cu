#include "bfs_levels.h"

__global__ static void begin(int* levels, int vertex_count, int source) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertex_count) levels[v] = v == source ? 0 : -1;
}

// Several threads may give a vertex the same level.
__global__ static void expand(const int* starts, const int* targets, int vertex_count, int level, int* levels, int* found) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertex_count || levels[v] != level) return;
    for (int i = starts[v]; i < starts[v + 1]; ++i) {
        if (levels[targets[i]] == -1) {
            levels[targets[i]] = level + 1;
            *found = 1;
        }
    }
}

void bfs_levels(const int* starts, const int* targets, int vertex_count, int source, int* levels) {
    const int blocks = (vertex_count + 255) / 256;
    int* found = nullptr;
    cudaMalloc(&found, sizeof *found);
    begin<<<blocks, 256>>>(levels, vertex_count, source);
    int goes_on = 1;
    for (int level = 0; goes_on != 0; ++level) {
        cudaMemset(found, 0, sizeof *found);
        expand<<<blocks, 256>>>(starts, targets, vertex_count, level, levels, found);
        if (cudaMemcpy(&goes_on, found, sizeof goes_on, cudaMemcpyDeviceToHost) != cudaSuccess) break;
    }
    cudaFree(found);
}

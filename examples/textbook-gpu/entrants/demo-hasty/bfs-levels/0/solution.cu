#include "bfs_levels.h"

__global__ void kernel(const int* starts, const int* targets, int vertex_count, int level, int* levels) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertex_count || levels[v] != level) return;
    for (int i = starts[v]; i < starts[v + 1]; i++)
        if (levels[targets[i]] < 0) levels[targets[i]] = level + 1;
}

void bfs_levels(const int* starts, const int* targets, int vertex_count, int source, int* levels) {
    int zero = 0;
    cudaMemset(levels, 0xff, vertex_count * sizeof(int));
    cudaMemcpy(levels + source, &zero, sizeof(int), cudaMemcpyHostToDevice);
    for (int level = 0; level < 256; level++) kernel<<<vertex_count / 256 + 1, 256>>>(starts, targets, vertex_count, level, levels);
}

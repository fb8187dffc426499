#include "bfs_levels.h"

// Each vertex of the frontier appends the vertices that it finds first to the next one.
__global__ static void begin(int* levels, int vertex_count, int source, int* frontier) {
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertex_count; v += gridDim.x * blockDim.x) {
        levels[v] = v == source ? 0 : -1;
        if (v == source) frontier[0] = v;
    }
}

__global__ static void expand(const int* starts, const int* targets, const int* frontier, int size, int level, int* levels,
                              int* next, int* next_size) {
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= size) return;
    const int v = frontier[place];
    for (int i = starts[v]; i < starts[v + 1]; ++i) {
        if (atomicCAS(&levels[targets[i]], -1, level) == -1) next[atomicAdd(next_size, 1)] = targets[i];
    }
}

void bfs_levels(const int* starts, const int* targets, int vertex_count, int source, int* levels) {
    int* memory = nullptr;
    cudaMalloc(&memory, (2 * vertex_count + 1) * sizeof *memory);
    int *frontier = memory, *next = memory + vertex_count, *next_size = memory + 2 * vertex_count;
    begin<<<64, 128>>>(levels, vertex_count, source, frontier);
    int size = 1;
    for (int level = 1; size > 0; ++level) {
        cudaMemset(next_size, 0, sizeof *next_size);
        expand<<<(size + 127) / 128, 128>>>(starts, targets, frontier, size, level, levels, next, next_size);
        if (cudaMemcpy(&size, next_size, sizeof size, cudaMemcpyDeviceToHost) != cudaSuccess) break;
        int* swapped = frontier;
        frontier = next;
        next = swapped;
    }
    cudaFree(memory);
}

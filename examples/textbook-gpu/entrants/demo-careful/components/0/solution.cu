#include "components.h"

// Hooks roots to lower ones, and then lets every vertex point at its root.
__global__ static void begin(int* labels, int vertex_count) {
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertex_count; v += gridDim.x * blockDim.x) labels[v] = v;
}

__global__ static void hook(const int* from, const int* to, int edge_count, int* labels, int* changed) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < edge_count; i += gridDim.x * blockDim.x) {
        const int left = labels[from[i]], right = labels[to[i]];
        if (left == right) continue;
        atomicMin(&labels[max(left, right)], min(left, right));
        *changed = 1;
    }
}

__global__ static void shorten(int* labels, int vertex_count) {
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertex_count; v += gridDim.x * blockDim.x) {
        int root = v;
        while (labels[root] < root) root = labels[root];
        atomicMin(&labels[v], root);
    }
}

void components(const int* from, const int* to, int edge_count, int vertex_count, int* labels) {
    int* changed = nullptr;
    cudaMalloc(&changed, sizeof *changed);
    begin<<<64, 128>>>(labels, vertex_count);
    int goes_on = 1;
    while (goes_on != 0) {
        cudaMemset(changed, 0, sizeof *changed);
        hook<<<64, 128>>>(from, to, edge_count, labels, changed);
        shorten<<<64, 128>>>(labels, vertex_count);
        if (cudaMemcpy(&goes_on, changed, sizeof goes_on, cudaMemcpyDeviceToHost) != cudaSuccess) break;
    }
    cudaFree(changed);
}

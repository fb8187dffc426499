#include "components.h"

__global__ static void begin(int* labels, int vertex_count) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertex_count) labels[v] = v;
}

// Labels only ever fall, and stay numbers of vertices of the same component.
__global__ static void spread(const int* from, const int* to, int edge_count, int* labels, int* changed) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= edge_count) return;
    const int left = labels[from[i]], right = labels[to[i]];
    if (left == right) return;
    atomicMin(&labels[left < right ? to[i] : from[i]], min(left, right));
    *changed = 1;
}

void components(const int* from, const int* to, int edge_count, int vertex_count, int* labels) {
    if (vertex_count == 0) return;
    begin<<<(vertex_count + 255) / 256, 256>>>(labels, vertex_count);
    int* changed = nullptr;
    cudaMalloc(&changed, sizeof *changed);
    int goes_on = edge_count > 0;
    while (goes_on != 0) {
        cudaMemset(changed, 0, sizeof *changed);
        spread<<<(edge_count + 255) / 256, 256>>>(from, to, edge_count, labels, changed);
        if (cudaMemcpy(&goes_on, changed, sizeof goes_on, cudaMemcpyDeviceToHost) != cudaSuccess) break;
    }
    cudaFree(changed);
}

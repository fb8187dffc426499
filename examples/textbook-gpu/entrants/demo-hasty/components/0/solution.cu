#include "components.h"

__global__ void init(int* labels, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) labels[v] = v;
}

__global__ void spread(const int* from, const int* to, int n, int* labels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMin(&labels[to[i]], labels[from[i]]);
}

void components(const int* from, const int* to, int edge_count, int vertex_count, int* labels) {
    init<<<vertex_count / 256 + 1, 256>>>(labels, vertex_count);
    for (int i = 0; i < 32; i++) spread<<<edge_count / 256 + 1, 256>>>(from, to, edge_count, labels);
}
